"""A place in one buffer for each iteration of loops: ranges of the loops' variables, the buffer, and accesses to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from dlc._mlir import affine, ir, memref
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT
from dlc.lowering.policy import policy

Ends = tuple[ir.AffineExpr, ir.AffineExpr]
"""The least and the largest value of an expression."""


def is_access(op: ir.Operation) -> bool:
    """Whether `op` loads or stores an element by affine subscripts."""
    return op.name in SUBSCRIPTS_AT


@dataclass
class EnclosingLoops:
    """The loops around an allocation: the least and the largest value of each variable, in dims that stand for `values`.

    The values are defined before `root`, the outermost loop or condition.
    """

    root: ir.Operation
    values: list[ir.Value] = field(default_factory=list)
    ends: dict[ir.Value, Ends] = field(default_factory=dict)

    @property
    def sizes(self) -> list[int | None]:
        """How many values each variable may have; None where only the run time knows."""
        return [_constant(high - low + 1) for low, high in self.ends.values()]

    def likely_bytes(self, kind: ir.MemRefType) -> int:
        """The bytes of memory of that kind for each iteration, about."""
        own = [None if kind.is_dynamic_dim(axis) else size for axis, size in enumerate(kind.shape)]
        likely = [policy().cost.assumed_elements if size is None else size for size in (*self.sizes, *own)]
        return prod(likely) * -(-getattr(kind.element_type, "width", 64) // 8)

    def come_after(self, values: Sequence[ir.Value]) -> bool:
        """Whether all of `values` are defined before the loops, in the block around."""
        blocks = (value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block for value in values)
        return all(block == self.root.operation.block for block in blocks)

    def ends_of(self, value: ir.Value) -> Ends | None:
        """The ends of an operand of a bound; None where it is computed in a loop."""
        if value in self.ends:
            return self.ends[value]
        block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        if block != self.root.operation.block:
            return None
        if value not in self.values:
            self.values.append(value)
        dim = ir.AffineExpr.get_dim(self.values.index(value))
        return dim, dim


def allocate(loops: EnclosingLoops, kind: ir.MemRefType, sizes: Sequence[ir.Value] = ()) -> ir.Value:
    """The buffer with a place for each iteration, freed at the end of the function; `sizes` are those that `kind` leaves open."""
    place, zero = ir.InsertionPoint(loops.root), ir.AffineExpr.get_constant(0)
    shape, dynamic = [ir.ShapedType.get_dynamic_size() if size is None else max(0, size) for size in loops.sizes], []
    for size, (low, high) in zip(loops.sizes, loops.ends.values(), strict=True):
        if size is None:
            map = ir.AffineMap.get(len(loops.values), 0, [high - low + 1, zero])
            dynamic.append(affine.AffineMaxOp(map, loops.values, ip=place).result)
    expanded = ir.MemRefType.get([*shape, *kind.shape], kind.element_type, memory_space=kind.memory_space)
    buffer = memref.AllocOp(expanded, [*dynamic, *sizes], [], ip=place).result
    memref.DeallocOp(buffer, ip=ir.InsertionPoint.at_block_terminator(loops.root.operation.block))
    return buffer


def redirect(access: ir.Operation, buffer: ir.Value, loops: EnclosingLoops) -> None:
    """Let `access` use the place of its iteration."""
    at, old = SUBSCRIPTS_AT[access.name], access.attributes["map"].value
    operands = list(access.operands)
    indices = operands[at:]
    known = all(_constant(low) is not None for low, _ in loops.ends.values())
    values = [] if known else loops.values
    first = old.n_dims + len(loops.ends)
    places = [
        ir.AffineExpr.get_dim(old.n_dims + which) - low.shift_dims(len(values), first)
        for which, (low, _) in enumerate(loops.ends.values())
    ]
    map = ir.AffineMap.get(first + len(values), old.n_symbols, [*places, *old.results])
    given = [*indices[: old.n_dims], *loops.ends, *values, *indices[old.n_dims :]]
    attributes = dict(access.attributes.items()) | {"map": ir.AffineMapAttr.get(map)}
    kinds = [result.type for result in access.results]
    copy = ir.Operation.create(
        access.name, kinds, [*operands[: at - 1], buffer, *given], attributes, loc=access.location, ip=ir.InsertionPoint(access)
    )
    for result, new in zip(access.results, copy.results, strict=True):
        result.replace_all_uses_with(new)
    access.erase()


def loops_around(op: ir.Operation) -> EnclosingLoops | None:
    """The loops around `op` from the outside in; None where the values of a variable have no affine bounds."""
    chain: list[ir.Operation] = []
    parent = op.parent.operation
    while parent.name != "func.func":
        chain.append(parent)
        parent = parent.parent.operation
    found = EnclosingLoops(chain[-1])
    for loop in reversed(chain):
        if loop.name == "affine.if":
            continue
        ends = _ends_of(loop, found) if loop.name == "affine.for" else None
        if ends is None:
            return None
        found.ends[loop.regions[0].blocks[0].arguments[0]] = ends
    return found


def _ends_of(loop: ir.Operation, around: EnclosingLoops) -> Ends | None:
    """The least and the largest value that the variable of `loop` may have."""
    lowers, uppers, _ = ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"])
    operands = list(loop.operands)
    low = _extremes(loop.attributes["lowerBoundMap"].value, operands[:lowers], around)
    high = _extremes(loop.attributes["upperBoundMap"].value, operands[lowers : lowers + uppers], around)
    if low is None or high is None:
        return None
    return _tightest([least for least, _ in low], max), _tightest([most for _, most in high], min) - 1


def _tightest(bounds: Sequence[ir.AffineExpr], extreme: Callable[[list[int]], int]) -> ir.AffineExpr:
    """One of several bounds that hold all: the extreme of those that are known, else the first."""
    known = [value for value in map(_constant, bounds) if value is not None]
    return ir.AffineExpr.get_constant(extreme(known)) if known else bounds[0]


def _constant(expression: ir.AffineExpr) -> int | None:
    expression = expression.maybe_downcast()
    return expression.value if isinstance(expression, ir.AffineConstantExpr) else None


def _extremes(map: ir.AffineMap, operands: Sequence[ir.Value], around: EnclosingLoops) -> list[Ends] | None:
    """The least and largest value of each result."""
    ends = [around.ends_of(operand) for operand in operands]
    if any(one is None for one in ends):
        return None
    found = [_extreme(result, [one for one in ends if one is not None], map.n_dims) for result in map.results]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def _extreme(expression: ir.AffineExpr, ends: Sequence[Ends], dims: int) -> Ends | None:
    """The least and largest value of `expression`; None for what is not linear."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return expression, expression
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
    factor = _constant(right[0])
    if factor is None or right[0] != right[1]:
        return None
    return (left[0] * factor, left[1] * factor) if factor >= 0 else (left[1] * factor, left[0] * factor)
