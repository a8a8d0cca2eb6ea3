"""An `affine.parallel` that combines values of its iterations, as loops that update memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

from dlc._mlir import affine, arith, ir, memref
from dlc.lowering.pass_base import PassFailure


@dataclass(frozen=True)
class _Combiner:
    """What an `arith::AtomicRMWKind` means: an op, and the number that changes nothing; `bits` gives an integer's."""

    op: str
    identity: float = 0
    bits: str = ""


_COMBINERS: Mapping[int, _Combiner] = {
    0: _Combiner("arith.addf", -0.0),
    1: _Combiner("arith.addi", bits="zeros"),
    2: _Combiner("arith.andi", bits="ones"),
    4: _Combiner("arith.maximumf", -inf),
    5: _Combiner("arith.maxnumf", nan),
    6: _Combiner("arith.maxsi", bits="lowest"),
    7: _Combiner("arith.maxui", bits="zeros"),
    8: _Combiner("arith.minimumf", inf),
    9: _Combiner("arith.minnumf", nan),
    10: _Combiner("arith.minsi", bits="highest"),
    11: _Combiner("arith.minui", bits="ones"),
    12: _Combiner("arith.mulf", 1.0),
    13: _Combiner("arith.muli", bits="one"),
    14: _Combiner("arith.ori", bits="zeros"),
    15: _Combiner("arith.xori", bits="zeros"),
}
"""By the number of the kind; 3 is `assign`."""


def as_sequential_loops(op: ir.Operation) -> None:
    """Replace `op`, an `affine.parallel` with results, by `affine.for` loops around updates of memory.

    The combining ops of floats carry `reassoc`: `op` left their order open. Raises PassFailure for kinds that do not combine.
    """
    combiners = [_combiner(op, ir.IntegerAttr(kind).value) for kind in ir.ArrayAttr(op.attributes["reductions"])]
    with op.location, ir.InsertionPoint(op):
        scalar_buffers = [memref.AllocaOp(ir.MemRefType.get([], result.type), [], []).result for result in op.results]
        no_map = ir.AffineMap.get(0, 0, [])
        for scalar_buffer, result, combiner in zip(scalar_buffers, op.results, combiners, strict=True):
            start = arith.ConstantOp(result.type, _identity(combiner, result.type)).result
            affine.AffineStoreOp(start, scalar_buffer, [], no_map)
        end = _loops(op)
        _update(op, end, scalar_buffers, combiners)
        for scalar_buffer, result in zip(scalar_buffers, op.results, strict=True):
            result.replace_all_uses_with(affine.AffineLoadOp(result.type, scalar_buffer, [], no_map).result)
    op.erase()


def _combiner(op: ir.Operation, kind: int) -> _Combiner:
    if kind not in _COMBINERS:
        raise PassFailure(
            op, "which of its iterations gives the value is left open", "combine values by a sum, product, minimum, ..."
        )
    return _COMBINERS[kind]


def _loops(op: ir.Operation) -> ir.Operation:
    """Build one loop a variable around what `op` holds; returns the terminator of the innermost."""
    body = op.regions[0].blocks[0]
    lower_map, upper_map = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
    count = lower_map.n_dims + lower_map.n_symbols
    operands = list(op.operands)
    lowers = _groups(lower_map, ir.DenseIntElementsAttr(op.attributes["lowerBoundsGroups"]))
    uppers = _groups(upper_map, ir.DenseIntElementsAttr(op.attributes["upperBoundsGroups"]))
    where = ir.InsertionPoint(op)
    for variable, lower, upper, step in zip(body.arguments, lowers, uppers, ir.ArrayAttr(op.attributes["steps"]), strict=True):
        loop = affine.AffineForOp(
            lower,
            upper,
            ir.IntegerAttr(step).value,
            lower_bound_operands=operands[:count],
            upper_bound_operands=operands[count:],
            ip=where,
        )
        variable.replace_all_uses_with(loop.induction_variable)
        end = affine.AffineYieldOp([], ip=ir.InsertionPoint(loop.body)).operation
        where = ir.InsertionPoint(end)
    for inner in [view.operation for view in body.operations][:-1]:
        inner.move_before(end)
    return end


def _groups(map: ir.AffineMap, sizes: Sequence[int]) -> list[ir.AffineMap]:
    """The results of `map` in groups of these sizes."""
    results, found, at = list(map.results), [], 0
    for size in sizes:
        found.append(ir.AffineMap.get(map.n_dims, map.n_symbols, results[at : at + size]))
        at += size
    return found


def _update(op: ir.Operation, end: ir.Operation, scalar_buffers: Sequence[ir.Value], combiners: Sequence[_Combiner]) -> None:
    """Combine what an iteration yields with what is in memory, before `end`."""
    yielded = list(op.regions[0].blocks[0].operations)[-1].operation
    no_map = ir.AffineMap.get(0, 0, [])
    for scalar_buffer, value, combiner in zip(scalar_buffers, yielded.operands, combiners, strict=True):
        where = ir.InsertionPoint(end)
        before = affine.AffineLoadOp(value.type, scalar_buffer, [], no_map, ip=where).result
        flags = {} if combiner.bits else {"fastmath": ir.Attribute.parse("#arith.fastmath<reassoc>")}
        combined = ir.Operation.create(combiner.op, [value.type], [before, value], flags, ip=where)
        affine.AffineStoreOp(combined.results[0], scalar_buffer, [], no_map, ip=where)


def _identity(combiner: _Combiner, kind: ir.Type) -> ir.Attribute:
    if not combiner.bits:
        return ir.FloatAttr.get(kind, combiner.identity)
    width = 64 if isinstance(kind, ir.IndexType) else kind.width
    lowest = -1 << (width - 1)
    numbers = {"zeros": 0, "one": 1, "ones": -1, "lowest": lowest, "highest": -lowest - 1}
    return ir.IntegerAttr.get(kind, numbers[combiner.bits])
