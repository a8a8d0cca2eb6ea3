"""affine-promote-buffers: elements that a loop reads and writes in place become values that it carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, arith, ir, vector
from dlc.analysis.buffers import is_memref, nested_ops, root_of, written_values
from dlc.analysis.polyhedral.index_maps import constant_of
from dlc.lowering.affine.accesses import are_apart
from dlc.lowering.affine.expressions import coefficient
from dlc.lowering.pass_base import Pass
from dlc.lowering.polyhedral.affine_builder import substitute

_MEMREF_AT = {"affine.load": 0, "affine.vector_load": 0, "affine.store": 1, "affine.vector_store": 1}
_MASKED = ("vector.maskedload", "vector.maskedstore")


@dataclass(frozen=True)
class PromoteBuffers(Pass):
    """Keep in registers what an innermost loop reads and writes at a place that does not move.

    before: affine.for %k = 0 to 64 {
              %c = affine.load %C[%i, %j]; ...; %new = arith.addf %c, %ab; affine.store %new, %C[%i, %j]
            }
    after:  %first = affine.load %C[%i, %j]
            %last = affine.for %k = 0 to 64 iter_args(%c = %first) { ...; %new = arith.addf %c, %ab; affine.yield %new }
            affine.store %last, %C[%i, %j]

    Vectors count as elements. Every other access of the loop must surely touch other memory. A loop that may have no iterations is
    put under a condition, so that nothing is read or written that was not before.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for loop in [inner for inner in nested_ops(op) if inner.name == "affine.for"]:
            body = [inner.operation for inner in loop.regions[0].blocks[0].operations]
            if not len(loop.results) and not any(len(inner.regions) for inner in body):
                _promote(loop, body)


@dataclass(frozen=True, eq=False)
class _Place:
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


def _place(op: ir.Operation) -> _Place:
    if op.name in _MASKED:
        return _masked_place(op)
    at = _MEMREF_AT[op.name]
    kind = op.operands[0].type if at else op.results[0].type
    return _Place(op, op.operands[at], op.attributes["map"].value, tuple(list(op.operands)[at + 1 :]), kind)


def _masked_place(op: ir.Operation) -> _Place:
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
    return _Place(
        op, op.operands[0], ir.AffineMap.get(len(given), 0, expressions), tuple(given), kind, op.operands[len(op.operands) - 2]
    )


def _is_access(op: ir.Operation) -> bool:
    return op.name in _MEMREF_AT or op.name in _MASKED


def _promote(loop: ir.Operation, body: Sequence[ir.Operation]) -> None:
    """Rebuild `loop` with the places that it may carry as values."""
    places = [_place(op) for op in body if _is_access(op)]
    others = [op for op in body if not _is_access(op) and any(is_memref(operand) for operand in op.operands)]
    carried: dict[tuple[object, ...], _Place] = {}
    for place in places:
        if place.writes and place.key not in carried and _may_carry(place, places, others, loop):
            carried[place.key] = place
    if carried:
        _rebuild(loop, body, carried)


def _may_carry(place: _Place, places: Sequence[_Place], others: Sequence[ir.Operation], loop: ir.Operation) -> bool:
    """Whether nothing in the loop but accesses of the same key may touch the place, which does not move."""
    variable = loop.regions[0].blocks[0].arguments[0]
    used = (place.memref, *place.indices, *(() if place.mask is None else (place.mask,)))
    if variable in used or not all(_is_outside(value, loop) for value in used):
        return False
    if any(not are_apart(root_of(place.memref), root_of(value)) for op in others for value in _touched(op)):
        return False
    bounds = _Bounds.of(loop)
    return all(other.key == place.key or _are_disjoint(place, other, variable, bounds) for other in places)


def _touched(op: ir.Operation) -> Iterator[ir.Value]:
    """The memrefs that an op other than a plain access may read or write."""
    if op.name != "memref.dim":
        yield from (operand for operand in (*op.operands, *written_values(op)) if is_memref(operand))


def _is_outside(value: ir.Value, loop: ir.Operation) -> bool:
    return isinstance(value, ir.BlockArgument) or value.owner.operation.block != loop.regions[0].blocks[0]


def _are_disjoint(one: _Place, other: _Place, variable: ir.Value, bounds: _Bounds) -> bool:
    """Whether the two surely share no element: other memory, or subscripts further apart than they are wide in some dim."""
    if one.memref != other.memref:
        return are_apart(root_of(one.memref), root_of(other.memref))
    last = len(one.map.results) - 1
    for dim, (mine, theirs) in enumerate(zip(one.map.results, other.map.results, strict=True)):
        below, above = (_lanes(one.kind), _lanes(other.kind)) if dim == last else (1, 1)
        first, second = _linear(mine, one), _linear(theirs, other)
        if first is None or second is None:
            continue
        low, high = _least(_minus(first, second), variable, bounds), _least(_minus(second, first), variable, bounds)
        if (low is not None and low >= above) or (high is not None and high >= below):
            return True
    return False


def _lanes(kind: ir.Type) -> int:
    return ir.VectorType(kind).shape[-1] if isinstance(kind, ir.VectorType) else 1


_Linear = tuple[Mapping[ir.Value, int], int]
"""Factors of index values, and a constant."""


def _minus(one: _Linear, other: _Linear, times: int = 1) -> _Linear:
    """`one - times * other`"""
    factors = dict(one[0])
    for value, factor in other[0].items():
        factors[value] = factors.get(value, 0) - times * factor
    return {value: factor for value, factor in factors.items() if factor}, one[1] - times * other[1]


def _least(distance: _Linear, variable: ir.Value, bounds: _Bounds) -> int | None:
    """The least value of `distance` over the iterations of the loop with these bounds, where it is a number."""
    factor = distance[0].get(variable, 0)
    if not factor:
        return None if distance[0] else distance[1]
    map, operands, beyond = (bounds.lower, bounds.lower_operands, 0) if factor > 0 else (bounds.upper, bounds.upper_operands, 1)
    found = []
    for result in map.results:
        bound = _linear_in(result, map, operands)
        if bound is None:
            continue
        rest = _minus(distance, ({variable: 1}, 0), factor)
        least = _minus(rest, (bound[0], bound[1] - beyond), -factor)
        found += [] if least[0] else [least[1]]
    return max(found, default=None)


def _linear(expression: ir.AffineExpr, place: _Place) -> _Linear | None:
    """A subscript of `place`; None where it is not linear, or has symbols."""
    return _linear_in(expression, place.map, place.indices)


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


def _rebuild(loop: ir.Operation, body: Sequence[ir.Operation], carried: Mapping[tuple[object, ...], _Place]) -> None:
    """Replace `loop` by one that carries the places: loads before it, stores after it."""
    bounds = _Bounds.of(loop)
    guard = None if bounds.surely_run else bounds.guard(loop)
    with ir.InsertionPoint(loop if guard is None else guard.then_block):
        firsts = [_load(place, loop.location) for place in carried.values()]
        new = affine.AffineForOp(
            bounds.lower,
            bounds.upper,
            bounds.step,
            firsts,
            lower_bound_operands=bounds.lower_operands,
            upper_bound_operands=bounds.upper_operands,
            loc=loop.location,
        )
        for name, attribute in loop.attributes.items():
            if name not in _BOUND_ATTRIBUTES:
                new.operation.attributes[name] = attribute
        for place, last in zip(carried.values(), new.results, strict=True):
            _store(place, last, loop.location)
        if guard is not None:
            affine.AffineYieldOp([], loc=loop.location)
    _move_body(loop, body, carried, new)
    loop.erase()


_BOUND_ATTRIBUTES = ("lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes")


def _move_body(
    loop: ir.Operation, body: Sequence[ir.Operation], carried: Mapping[tuple[object, ...], _Place], new: affine.AffineForOp
) -> None:
    """Move the ops into the new loop, with values in place of the carried loads and stores."""
    loop.regions[0].blocks[0].arguments[0].replace_all_uses_with(new.induction_variable)
    values: dict[tuple[object, ...], ir.Value] = dict(zip(carried, new.inner_iter_args, strict=True))
    with ir.InsertionPoint(new.body):
        end = affine.AffineYieldOp(list(values.values()), loc=loop.location)
    for op in body[:-1]:
        place = _place(op) if _is_access(op) else None
        key = None if place is None else place.key
        if place is None or key not in values:
            op.move_before(end.operation)
        elif len(op.results):
            op.results[0].replace_all_uses_with(values[key])
            op.erase()
        else:
            values[key] = op.operands[len(op.operands) - 1] if place.mask is not None else op.operands[0]
            op.erase()
    for at, value in enumerate(values.values()):
        end.operation.operands[at] = value


def _load(place: _Place, location: ir.Location) -> ir.Value:
    if place.mask is not None:
        kind = ir.VectorType(place.kind)
        zeros = arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, _zero(kind.element_type)), loc=location).result
        return vector.maskedload(kind, place.memref, _subscripts(place, location), place.mask, zeros, loc=location)
    name = "affine.vector_load" if isinstance(place.kind, ir.VectorType) else "affine.load"
    attributes = {"map": ir.AffineMapAttr.get(place.map)}
    return ir.Operation.create(name, [place.kind], [place.memref, *place.indices], attributes, loc=location).results[0]


def _store(place: _Place, value: ir.Value, location: ir.Location) -> None:
    if place.mask is not None:
        vector.maskedstore(place.memref, _subscripts(place, location), place.mask, value, loc=location)
        return
    name = "affine.vector_store" if isinstance(place.kind, ir.VectorType) else "affine.store"
    attributes = {"map": ir.AffineMapAttr.get(place.map)}
    ir.Operation.create(name, [], [value, place.memref, *place.indices], attributes, loc=location)


def _subscripts(place: _Place, location: ir.Location) -> list[ir.Value]:
    """The subscripts as values."""
    maps = [ir.AffineMap.get(place.map.n_dims, 0, [result]) for result in place.map.results]
    return [affine.AffineApplyOp(map, list(place.indices), loc=location).result for map in maps]


def _zero(kind: ir.Type) -> ir.Attribute:
    return ir.IntegerAttr.get(kind, 0) if isinstance(kind, ir.IntegerType) else ir.FloatAttr.get(kind, 0.0)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """The bounds of an `affine.for`."""

    lower: ir.AffineMap
    upper: ir.AffineMap
    lower_operands: tuple[ir.Value, ...]
    upper_operands: tuple[ir.Value, ...]
    step: int

    @classmethod
    def of(cls, loop: ir.Operation) -> _Bounds:
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
        return [upper - lower - 1 for upper in uppers for lower in low.results], dims, symbols, operands
