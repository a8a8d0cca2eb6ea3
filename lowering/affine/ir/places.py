"""Where accesses of a loop read and write: whether two share an element, and how the loop is built anew around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import affine, arith, ir, vector
from dlc.analysis.buffers import overlaps_itself, root_of
from dlc.lowering.affine.ir.accesses import are_apart
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.expressions import coefficient
from dlc.lowering.affine.polyhedral.index_maps import constant_of

_MEMREF_AT = {"affine.load": 0, "affine.vector_load": 0, "affine.store": 1, "affine.vector_store": 1}
_MASKED = ("vector.maskedload", "vector.maskedstore")


_Linear = tuple[Mapping[ir.Value, int], int]
"""Factors of index values, and a constant."""

LoopBounds = tuple[ir.Value, "Bounds"]
"""A loop's variable and its bounds."""


@dataclass(frozen=True, eq=False)
class MemRefAccess:
    """Where an access reads or writes: subscripts over index values, and the type it moves; for masked vectors under `mask`."""

    op: ir.Operation
    memref: ir.Value
    map: ir.AffineMap
    indices: tuple[ir.Value, ...]
    kind: ir.Type
    mask: ir.Value | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for accesses of the same elements."""
        return self.memref, self.map, self.indices, self.kind, self.mask

    @property
    def writes(self) -> bool:
        return "store" in self.op.name

    @cached_property
    def linear(self) -> list[_Linear | None]:
        """The subscripts as linear forms; None for those that are not, or have symbols."""
        return [_linear_in(result, self.map, self.indices) for result in self.map.results]

    @cached_property
    def widths(self) -> list[int]:
        """How many elements it takes in each dim: a vector's own dims are the memref's last ones."""
        rank = len(self.map.results)
        lanes = ir.VectorType(self.kind).shape[-rank:] if rank and isinstance(self.kind, ir.VectorType) else []
        return [1] * (rank - len(lanes)) + list(lanes)


def place_of(op: ir.Operation) -> MemRefAccess:
    """The place of an access."""
    if op.name in _MASKED:
        return _masked_place(op)
    at = _MEMREF_AT[op.name]
    kind = op.operands[0].type if at else op.results[0].type
    return MemRefAccess(op, op.operands[at], op.attributes["map"].value, tuple(list(op.operands)[at + 1 :]), kind)


def _masked_place(op: ir.Operation) -> MemRefAccess:
    """The place of a masked access, whose indices are `affine.apply`s of loop variables, loop variables or constants."""
    indices = list(op.operands)[1:-2]
    expressions: list[ir.AffineExpr] = []
    given: list[ir.Value] = []
    for index in indices:
        number = constant_of(index)
        if number is not None:
            expressions.append(ir.AffineExpr.get_constant(number))
            continue
        owner = None if isinstance(index, ir.BlockArgument) else index.owner.operation
        applied = owner if owner is not None and owner.name == "affine.apply" else None
        map = ir.AffineMap.get_identity(1) if applied is None else applied.attributes["map"].value
        operands = [index] if applied is None else list(applied.operands)
        shift = [ir.AffineExpr.get_dim(len(given) + at) for at in range(len(operands))]
        expressions.append(substitute(map.results[0], shift[: map.n_dims], shift[map.n_dims :]))
        given += operands
    kind = op.results[0].type if len(op.results) else op.operands[len(op.operands) - 1].type
    return MemRefAccess(
        op, op.operands[0], ir.AffineMap.get(len(given), 0, expressions), tuple(given), kind, op.operands[len(op.operands) - 2]
    )


def is_access(op: ir.Operation) -> bool:
    """Whether `op` is a load or store of an element or a vector, masked or not."""
    return op.name in _MEMREF_AT or op.name in _MASKED


def are_disjoint(one: MemRefAccess, other: MemRefAccess, loops: Sequence[LoopBounds]) -> bool:
    """Whether the two surely share no element: other memory, or subscripts further apart than they are wide in some dim.

    `loops` are those around both, the innermost first (`loops_around`).
    """
    if one.memref != other.memref:
        return are_apart(root_of(one.memref), root_of(other.memref))
    if overlaps_itself(ir.MemRefType(one.memref.type)):
        return False
    for first, second, below, above in zip(one.linear, other.linear, one.widths, other.widths, strict=True):
        if first is None or second is None:
            continue
        low, high = _least(_minus(first, second), loops), _least(_minus(second, first), loops)
        if (low is not None and low >= above) or (high is not None and high >= below):
            return True
    return False


def _minus(one: _Linear, other: _Linear, times: int = 1) -> _Linear:
    """`one - times * other`"""
    factors = dict(one[0])
    for value, factor in other[0].items():
        factors[value] = factors.get(value, 0) - times * factor
    return {value: factor for value, factor in factors.items() if factor}, one[1] - times * other[1]


def _least(distance: _Linear, loops: Sequence[LoopBounds]) -> int | None:
    """The least value of `distance` over the iterations of `loops`, the innermost first, where it is a number.

    Each loop's variable is replaced by each of its bounds in turn, which are over variables further out.
    """
    if not distance[0]:
        return distance[1]
    if not loops:
        return None
    (variable, bounds), *outer = loops
    factor = distance[0].get(variable, 0)
    if not factor:
        return _least(distance, outer)
    map, operands, beyond = (bounds.lower, bounds.lower_operands, 0) if factor > 0 else (bounds.upper, bounds.upper_operands, 1)
    rest = _minus(distance, ({variable: 1}, 0), factor)
    linear = [_linear_in(result, map, operands) for result in map.results]
    found = [_least(_minus(rest, (bound[0], bound[1] - beyond), -factor), outer) for bound in linear if bound is not None]
    return max((least for least in found if least is not None), default=None)


def _linear_in(expression: ir.AffineExpr, map: ir.AffineMap, operands: Sequence[ir.Value]) -> _Linear | None:
    if map.n_symbols:
        return None
    factors: dict[ir.Value, int] = {}
    for dim, index in enumerate(operands):
        factor = coefficient(expression, dim)
        if factor is None:
            return None
        if factor:
            factors[index] = factors.get(index, 0) + factor
    zeros = [ir.AffineExpr.get_constant(0)] * map.n_dims
    constant = expression.compose(ir.AffineMap.get(0, 0, zeros)).maybe_downcast()
    return (factors, constant.value) if isinstance(constant, ir.AffineConstantExpr) else None


def load_place(place: MemRefAccess, location: ir.Location) -> ir.Value:
    """Load what is there, at the current insertion point."""
    if place.mask is not None:
        kind = ir.VectorType(place.kind)
        zeros = arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, _zero(kind.element_type)), loc=location).result
        return vector.maskedload(kind, place.memref, _subscripts(place, location), place.mask, zeros, loc=location)
    name = "affine.vector_load" if isinstance(place.kind, ir.VectorType) else "affine.load"
    attributes = {"map": ir.AffineMapAttr.get(place.map)}
    return ir.Operation.create(name, [place.kind], [place.memref, *place.indices], attributes, loc=location).results[0]


def store_place(place: MemRefAccess, value: ir.Value, location: ir.Location) -> None:
    """Store `value` there, at the current insertion point."""
    if place.mask is not None:
        vector.maskedstore(place.memref, _subscripts(place, location), place.mask, value, loc=location)
        return
    name = "affine.vector_store" if isinstance(place.kind, ir.VectorType) else "affine.store"
    attributes = {"map": ir.AffineMapAttr.get(place.map)}
    ir.Operation.create(name, [], [value, place.memref, *place.indices], attributes, loc=location)


def _subscripts(place: MemRefAccess, location: ir.Location) -> list[ir.Value]:
    """The subscripts as values."""
    maps = [ir.AffineMap.get(place.map.n_dims, 0, [result]) for result in place.map.results]
    return [affine.AffineApplyOp(map, list(place.indices), loc=location).result for map in maps]


def _zero(kind: ir.Type) -> ir.Attribute:
    return ir.IntegerAttr.get(kind, 0) if isinstance(kind, ir.IntegerType) else ir.FloatAttr.get(kind, 0.0)


BOUND_ATTRIBUTES = ("lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes")
"""The attributes of a loop that say its bounds; others stay when it is built anew."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of an `affine.for`."""

    lower: ir.AffineMap
    upper: ir.AffineMap
    lower_operands: tuple[ir.Value, ...]
    upper_operands: tuple[ir.Value, ...]
    step: int

    @classmethod
    def of(cls, loop: ir.Operation) -> Bounds:
        """Those of `loop`."""
        lowers, uppers, _ = ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"])
        operands = tuple(loop.operands)
        return cls(
            loop.attributes["lowerBoundMap"].value,
            loop.attributes["upperBoundMap"].value,
            operands[:lowers],
            operands[lowers : lowers + uppers],
            ir.IntegerAttr(loop.attributes["step"]).value,
        )

    @property
    def surely_run(self) -> bool:
        """Whether there is an iteration, whatever the operands are."""
        gaps = [gap.maybe_downcast() for gap in self._gaps()[0]]
        return all(isinstance(gap, ir.AffineConstantExpr) and gap.value >= 0 for gap in gaps)

    def guard(self, loop: ir.Operation) -> affine.AffineIfOp:
        """A condition before `loop` that holds where there is an iteration."""
        gaps, dims, symbols, operands = self._gaps()
        condition = ir.IntegerSet.get(dims, symbols, gaps, [False] * len(gaps))
        return affine.AffineIfOp(condition, cond_operands=operands, loc=loop.location, ip=ir.InsertionPoint(loop))

    def _gaps(self) -> tuple[list[ir.AffineExpr], int, int, list[ir.Value]]:
        """`upper - lower - 1` for all pairs of bounds, the numbers of their dims and symbols, and the operands for these."""
        lower, upper, operands = self.together()
        return [high - low - 1 for high in upper.results for low in lower.results], lower.n_dims, lower.n_symbols, operands

    def together(self) -> tuple[ir.AffineMap, ir.AffineMap, list[ir.Value]]:
        """The two bounds as maps of the same operands."""
        low, high = self.lower, self.upper
        dims, symbols = low.n_dims + high.n_dims, low.n_symbols + high.n_symbols
        shifted_dims = [ir.AffineExpr.get_dim(low.n_dims + at) for at in range(high.n_dims)]
        shifted_symbols = [ir.AffineExpr.get_symbol(low.n_symbols + at) for at in range(high.n_symbols)]
        uppers = [substitute(result, shifted_dims, shifted_symbols) for result in high.results]
        operands = [
            *self.lower_operands[: low.n_dims],
            *self.upper_operands[: high.n_dims],
            *self.lower_operands[low.n_dims :],
            *self.upper_operands[high.n_dims :],
        ]
        return ir.AffineMap.get(dims, symbols, list(low.results)), ir.AffineMap.get(dims, symbols, uppers), operands


def loops_around(loop: ir.Operation) -> list[LoopBounds]:
    """`loop`, an `affine.for`, and those around it, the innermost first."""
    found = []
    around: ir.Operation | None = loop
    while around is not None and around.name != "func.func":
        if around.name == "affine.for":
            found.append((around.regions[0].blocks[0].arguments[0], Bounds.of(around)))
        around = None if around.parent is None else around.parent.operation
    return found


def steps_by_width(op: ir.Operation, variable: ir.Value, step: int) -> bool:
    """Whether a step of the loop's `variable` moves a vector access by its own width along its last dimension alone."""
    place = place_of(op)
    at = [dim for dim, operand in enumerate(place.indices) if operand == variable]
    if ir.VectorType(place.kind).rank != 1 or len(at) != 1 or at[0] >= place.map.n_dims:
        return False
    *outer, last = [coefficient(result, at[0]) for result in place.map.results]
    return all(factor == 0 for factor in outer) and last is not None and last * step == ir.VectorType(place.kind).shape[0]


def ends_before(one: Bounds, other: Bounds, loops: Sequence[LoopBounds]) -> bool:
    """Whether all values of the loop with the bounds `one` are surely less than those of `other`, both in the same `loops`."""
    ends = [_linear_in(result, one.upper, one.upper_operands) for result in one.upper.results]
    starts = [_linear_in(result, other.lower, other.lower_operands) for result in other.lower.results]
    gaps = [_least(_minus(start, end), loops) for end in ends for start in starts if end is not None and start is not None]
    return any(gap is not None and gap >= 0 for gap in gaps)
