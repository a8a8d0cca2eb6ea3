"""affine-expand-buffers: memory that each iteration allocates becomes one buffer with a place for each iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dlc._mlir import ir, memref
from dlc.analysis.buffers import ALLOCATIONS, nested_ops
from dlc.lowering.pass_base import Pass, option

_SUBSCRIPTS_AT = {"affine.load": 1, "affine.store": 2}


@dataclass(frozen=True)
class ExpandBuffers(Pass):
    """Give every iteration its own place in one buffer, so that iterations that share no data may run in any order.

    before: affine.for %i = 0 to 8 { %w = memref.alloca() : memref<f64>; affine.store %x, %w[]; ... }
    after:  %w = memref.alloc() : memref<8xf64>; affine.for %i = 0 to 8 { affine.store %x, %w[%i]; ... }; memref.dealloc %w

    Buffers of static shape that loads and stores alone use, in `affine.for` loops whose ranges are known.
    """

    anchor = "func.func"

    limit: int = option(1 << 28, "bytes of the largest buffer that is made")

    def run(self, op: ir.Operation) -> None:
        allocations = [
            inner for inner in nested_ops(op) if inner.name in ALLOCATIONS and inner.parent.operation.name != "func.func"
        ]
        for allocation in allocations:
            self._expand(allocation, op)

    def _expand(self, allocation: ir.Operation, function: ir.Operation) -> None:
        """Replace one allocation in loops; nothing where it does not fit."""
        ranges = _loops_around(allocation)
        kind = ir.MemRefType(allocation.results[0].type)
        uses = [use.owner.operation for use in allocation.results[0].uses]
        accesses = [use for use in uses if use.name in _SUBSCRIPTS_AT]
        rest = [use for use in uses if use.name not in _SUBSCRIPTS_AT]
        if ranges is None or not kind.has_static_shape or any(use.name != "memref.dealloc" for use in rest):
            return
        shape = [*(len(values) for _, values in ranges), *kind.shape]
        if prod(shape) * _bytes(kind.element_type) > self.limit:
            return
        block = function.regions[0].blocks[0]
        expanded = ir.MemRefType.get(shape, kind.element_type, memory_space=kind.memory_space)
        with allocation.location:
            buffer = memref.AllocOp(expanded, [], [], ip=ir.InsertionPoint.at_block_begin(block)).result
            memref.DeallocOp(buffer, ip=ir.InsertionPoint.at_block_terminator(block))
        for access in accesses:
            _redirect(access, buffer, ranges)
        for use in rest:
            use.erase()
        allocation.erase()


def _bytes(kind: ir.Type) -> int:
    return -(-getattr(kind, "width", 64) // 8)


def _redirect(access: ir.Operation, buffer: ir.Value, ranges: Sequence[tuple[ir.Value, range]]) -> None:
    """Let `access` use the place of its iteration."""
    at, old = _SUBSCRIPTS_AT[access.name], access.attributes["map"].value
    operands = list(access.operands)
    indices = operands[at:]
    places = [ir.AffineExpr.get_dim(old.n_dims + which) - values.start for which, (_, values) in enumerate(ranges)]
    map = ir.AffineMap.get(old.n_dims + len(ranges), old.n_symbols, [*places, *old.results])
    given = [*indices[: old.n_dims], *(variable for variable, _ in ranges), *indices[old.n_dims :]]
    attributes = dict(access.attributes.items()) | {"map": ir.AffineMapAttr.get(map)}
    kinds = [result.type for result in access.results]
    copy = ir.Operation.create(
        access.name, kinds, [*operands[: at - 1], buffer, *given], attributes, loc=access.location, ip=ir.InsertionPoint(access)
    )
    for result, new in zip(access.results, copy.results, strict=True):
        result.replace_all_uses_with(new)
    access.erase()


def _loops_around(op: ir.Operation) -> list[tuple[ir.Value, range]] | None:
    """The variables of the loops around `op` from the outside in, and the values that they may have; None where not known."""
    chain: list[ir.Operation] = []
    parent = op.parent.operation
    while parent.name != "func.func":
        chain.append(parent)
        parent = parent.parent.operation
    found: dict[ir.Value, range] = {}
    for loop in reversed(chain):
        if loop.name == "affine.if":
            continue
        values = _range_of(loop, found) if loop.name == "affine.for" else None
        if values is None:
            return None
        found[loop.regions[0].blocks[0].arguments[0]] = values
    return list(found.items())


def _range_of(loop: ir.Operation, around: Mapping[ir.Value, range]) -> range | None:
    """All values that the variable of `loop` may have."""
    lowers, uppers, _ = ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"])
    operands = list(loop.operands)
    low = _extremes(loop.attributes["lowerBoundMap"].value, operands[:lowers], around)
    high = _extremes(loop.attributes["upperBoundMap"].value, operands[lowers : lowers + uppers], around)
    if low is None or high is None:
        return None
    return range(max(least for least, _ in low), min(most for _, most in high))


def _extremes(map: ir.AffineMap, operands: Sequence[ir.Value], around: Mapping[ir.Value, range]) -> list[tuple[int, int]] | None:
    """The least and largest value of each result."""
    ends = []
    for operand in operands:
        values = around.get(operand)
        if not values:
            return None
        ends.append((values[0], values[-1]))
    found = [_extreme(result, ends, map.n_dims) for result in map.results]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def _extreme(expression: ir.AffineExpr, ends: Sequence[tuple[int, int]], dims: int) -> tuple[int, int] | None:
    """The least and largest value of `expression`; None for what is not linear."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value, expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return ends[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return ends[dims + expression.position]
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    left, right = _extreme(expression.lhs, ends, dims), _extreme(expression.rhs, ends, dims)
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return left[0] + right[0], left[1] + right[1]
    products = [one * other for one in left for other in right]
    return min(products), max(products)
