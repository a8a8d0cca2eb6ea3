"""Index ops as affine maps."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op

MOST_ADDRESSED = 1 << 47
"""The user's half of an address space: no index is larger, and isl's costs stay numbers that the search can read."""


def applied_map(op: ir.Operation) -> tuple[ir.AffineMap, list[ir.Value]] | None:
    """The map of one result that `op` applies to operands, where it is affine: `affine.apply`, and arithmetic on indices.

    `index_cast` is one between `index` and integers of 64 bits; fewer could wrap.
    """
    if op.name == "affine.apply":
        return op.attributes["map"].value, list(op.operands)
    if not op.name.startswith("arith.") or not all(_is_wide(value) for value in (*op.operands, *op.results)):
        return None
    with op.context:
        return _of_arithmetic(op)


def constant_of(value: ir.Value) -> int | None:
    """The number that an integer or index constant is; None for other values."""
    op = defining_op(value)
    if op is None or op.name != "arith.constant" or not isinstance(op.attributes["value"], ir.IntegerAttr):
        return None
    return int(ir.IntegerAttr(op.attributes["value"]).value)


def is_index_arithmetic(op: ir.Operation) -> bool:
    """Whether `op` computes an index from indices by arithmetic that affine maps have.

    Sums of data are none, though they may be as wide: what reads or computes data stands behind one of their operands, in the
    same loops. Values that are computed before all loops are indices like the loops' variables.
    """
    if not op.name.startswith("arith.") or applied_map(op) is None:
        return False
    waiting, seen = [op], {op}
    while waiting:
        makers = {maker for maker in map(defining_op, waiting.pop().operands) if maker is not None}
        for maker in makers - seen:
            if maker.name in _INDEX_OPS or (_is_at_top(maker) and not _is_at_top(op)):
                continue
            if not maker.name.startswith("arith.") or applied_map(maker) is None:
                return False
            seen.add(maker)
            waiting.append(maker)
    return True


_INDEX_OPS = ("arith.constant", "affine.apply", "affine.min", "affine.max", "memref.dim")


def _is_at_top(op: ir.Operation) -> bool:
    """Whether `op` is in no loop or condition."""
    return op.parent is None or op.parent.operation.name == "func.func"


def _of_arithmetic(op: ir.Operation) -> tuple[ir.AffineMap, list[ir.Value]] | None:
    one, other = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(1)
    operands = list(op.operands)
    if op.name == "arith.index_cast":
        return ir.AffineMap.get(1, 0, [one]), operands
    if op.name == "arith.addi":
        return ir.AffineMap.get(2, 0, [one + other]), operands
    if op.name == "arith.subi":
        return ir.AffineMap.get(2, 0, [one - other]), operands
    if op.name == "arith.muli" and constant_of(operands[0]) is not None:
        operands.reverse()
    number = constant_of(operands[1]) if len(operands) == 2 else None
    if number is None:
        return None
    if op.name == "arith.muli":
        return ir.AffineMap.get(1, 0, [one * number]), operands[:1]
    if number > 0 and op.name == "arith.floordivsi":
        return ir.AffineMap.get(1, 0, [ir.AffineExpr.get_floor_div(one, number)]), operands[:1]
    if number > 0 and op.name == "arith.ceildivsi":
        return ir.AffineMap.get(1, 0, [ir.AffineExpr.get_ceil_div(one, number)]), operands[:1]
    return None


def _is_wide(value: ir.Value) -> bool:
    kind = value.type
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width == 64)
