"""Lowerings of reductions: one `linalg.generic` over the whole input, then rounding where the accumulator is wider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.reduce import reduced_axes
from dlc.dialects.dl.types import FLOATS
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, REDUCTION, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import read_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.elementwise import safe_divide

_COMBINERS = {"reduce_sum": "add", "reduce_mean": "add", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "mul"}


@lowering(*_COMBINERS)
def lower_reduction(b: Builder, op: SourceOp) -> ir.Value:
    """Accumulate in the accumulator's dtype, then divide (mean) and round, then put the axes of size 1 back."""
    x, kind = op.operands[0], op.types[0]
    dtype, gone = kind.dtype, reduced_axes(op["axes"], kind.rank)
    wide, combiner = accumulator_dtype(dtype), _COMBINERS[op.name.removeprefix("dl.")]

    def body(element: ir.Value, total: ir.Value) -> ir.Value:
        return b.arith(combiner, b.widen(element, dtype), total, wide)

    found = b.reduce([x], gone, _identity(b, combiner, wide), body)
    if op.name == "dl.reduce_mean":
        found = _divided(b, found, [b.dim(x, axis) for axis in gone], dtype)
    elif wide != dtype:
        found = b.map([found], b.shape(found), dtype, lambda total: b.narrow(total, dtype))
    return b.insert_ones(found, gone) if op["keepdims"] else found


def _identity(b: Builder, combiner: str, dtype: str) -> ir.Value:
    match combiner:
        case "max":
            return b.lowest(dtype)
        case "min":
            return b.highest(dtype)
    return b.scalar(1 if combiner == "mul" else 0, dtype)


def _divided(b: Builder, total: ir.Value, sizes: Sequence[Extent], dtype: str) -> ir.Value:
    """Sums over `sizes` elements as means of `dtype`."""
    count = b.num_elements(sizes)
    i64 = b.element("i64")
    divisor_dtype = accumulator_dtype(dtype) if dtype in FLOATS else "i64"
    counted = None if isinstance(count, int) else b.convert(b.index_cast(count, i64), "i64", divisor_dtype)

    def body(value: ir.Value) -> ir.Value:
        divisor = b.scalar(count, divisor_dtype) if isinstance(count, int) else counted
        if dtype in FLOATS:
            return b.narrow(b.arith("div", value, divisor, divisor_dtype), dtype)
        return b.convert(safe_divide(b, b.convert(value, dtype, "i64"), divisor, "i64"), "i64", dtype)

    return b.map([total], b.shape(total), dtype, body)


@lowering("arg_max", "arg_min")
def lower_arg_extremum(b: Builder, op: SourceOp) -> ir.Value:
    """Places of extrema, by one pass where neighbours in memory are of different rows, else by two, which vectors can do.

    Places are i32 on the way where they fit: as many of them as of f32 are in a vector. Until then those of NaN, which come
    before all others, may be moved by `step`.
    """
    kind = op.types[0]
    axis, size = op["axis"] % kind.rank, kind.shape[op["axis"]]
    is_small = isinstance(size, int) and size <= 1 << 30
    sign = 1 if op["select_last_index"] else -1
    search = _Search(op, axis, *(("i32", sign << 30) if is_small else ("i64", sign << 62)))
    places = search.in_one_pass(b) if any(dim != 1 for dim in kind.shape[axis + 1 :]) else search.in_two_passes(b)
    found = b.map([places], b.shape(places), "i64", lambda place: b.convert(place, search.counter, "i64"))
    return b.insert_ones(found, [axis]) if op["keepdims"] else found


@dataclass(frozen=True)
class _Search:
    """A search along `axis`, whose places are of dtype `counter`."""

    op: SourceOp
    axis: int
    counter: str
    step: int

    @property
    def dtype(self) -> str:
        """What elements are compared in."""
        return accumulator_dtype(self.op.types[0].dtype) if self.op.types[0].dtype in FLOATS else self.op.types[0].dtype

    @property
    def is_last(self) -> bool:
        """Whether the last of equals is wanted."""
        return self.step > 0

    def in_one_pass(self, b: Builder) -> ir.Value:
        """Carry the extremum and its place; elements come in the order of the axis."""
        return self._generic(b, [self.op.operands[0]], [self._lowest(b), b.scalar(0, self.counter)], self._taken)[1]

    def in_two_passes(self, b: Builder) -> ir.Value:
        """The extremum of numbers, then the nearest place where it or a NaN stands."""
        x = self.op.operands[0]
        best = self._generic(b, [x], [self._lowest(b)], self._better)[0]
        places = self._generic(b, [x, best], [b.scalar(0 if self.is_last else -self.step, self.counter)], self._nearer)[0]
        return b.map([places], b.shape(places), self.counter, lambda place: self._unmoved(b, place))

    def _generic(
        self, b: Builder, inputs: Sequence[ir.Value], starts: Sequence[ir.Value], body: Callable[..., Sequence[ir.Value]]
    ) -> list[ir.Value]:
        """Reductions along the axis of inputs with and without it."""
        rank, shape = self.op.types[0].rank, b.shape(self.op.operands[0])
        kept = [at for at in range(rank) if at != self.axis]
        target = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(at) for at in kept])
        maps = [ir.AffineMap.get_identity(rank), *[target] * (len(inputs) - 1 + len(starts))]
        iterators = [REDUCTION if at == self.axis else PARALLEL for at in range(rank)]
        outs = [b.full([shape[at] for at in kept], start) for start in starts]
        return b.generics(inputs, outs, maps, iterators, lambda *scalars: body(b, *scalars))

    def _lowest(self, b: Builder) -> ir.Value:
        return b.lowest(self.dtype) if self._predicate == "gt" else b.highest(self.dtype)

    @property
    def _predicate(self) -> str:
        return "gt" if self.op.name == "dl.arg_max" else "lt"

    def _taken(self, b: Builder, element: ir.Value, best: ir.Value, place: ir.Value) -> list[ir.Value]:
        value, index = self._read(b, element)
        predicate = {"gt": "ge", "lt": "le"}[self._predicate] if self.is_last else self._predicate
        if self.dtype in FLOATS:  # NaN comes before all else
            takes = b.compare("ord", best, best, self.dtype)
            if self.is_last:
                takes = b.binary("arith.ori", takes, b.compare("uno", value, value, self.dtype))
            takes = b.binary("arith.andi", takes, b.compare(f"u{predicate}", value, best, self.dtype))
        else:
            takes = b.compare(predicate, value, best, self.dtype)
        return [b.select(takes, value, best), b.select(takes, index, place)]

    def _better(self, b: Builder, element: ir.Value, best: ir.Value) -> list[ir.Value]:
        value, _ = self._read(b, element)
        return [b.select(b.compare(self._predicate, value, best, self.dtype), value, best)]

    def _nearer(self, b: Builder, element: ir.Value, best: ir.Value, place: ir.Value) -> list[ir.Value]:
        value, index = self._read(b, element)
        none = b.scalar(0 if self.is_last else -self.step, self.counter)
        found = b.select(b.compare("eq", value, best, self.dtype), index, none)
        if self.dtype in FLOATS:
            moved = b.arith("add", index, b.scalar(self.step, self.counter), self.counter)
            found = b.select(b.compare("uno", value, value, self.dtype), moved, found)
        return [b.binary("arith.maxsi" if self.is_last else "arith.minsi", found, place)]

    def _read(self, b: Builder, element: ir.Value) -> tuple[ir.Value, ir.Value]:
        return b.widen(element, self.op.types[0].dtype), b.index_cast(b.iteration(self.axis), b.element(self.counter))

    def _unmoved(self, b: Builder, place: ir.Value) -> ir.Value:
        """The index of a place that may be that of a NaN; 0 where a row has no elements."""
        if not self.is_last and not isinstance(self.op.types[0].shape[self.axis], int):
            none = b.compare("eq", place, b.scalar(-self.step, self.counter), self.counter)
            place = b.select(none, b.scalar(0, self.counter), place)
        is_moved = b.compare("ge" if self.is_last else "lt", place, b.scalar(max(self.step, 0), self.counter), self.counter)
        return b.select(is_moved, b.arith("sub", place, b.scalar(self.step, self.counter), self.counter), place)


_RUNNING = {"dl.cumsum": "add", "dl.cumprod": "mul"}
"""How a running reduction combines."""


@lowering("cumsum", "cumprod")
def lower_running(b: Builder, op: SourceOp) -> ir.Value:
    """A reduction that writes its running results, over elements in reverse where the attribute says so."""
    x, kind = op.operands[0], op.types[0]
    axis, dtype = op["axis"] % kind.rank, kind.dtype
    shape, wide = b.shape(x), accumulator_dtype(dtype)

    combine = _RUNNING[op.name]
    start = int(combine == "mul")  # what combines with any number to that number

    def step(element: ir.Value, _: ir.Value, total: ir.Value) -> list[ir.Value]:
        after = b.arith(combine, total, b.widen(element, dtype), wide)
        shown = total if op["exclusive"] else after
        return [shown if wide == dtype else b.narrow(shown, dtype), after]

    kept = [at for at in range(kind.rank) if at != axis]
    outs = [b.empty(shape, dtype), b.full([shape[at] for at in kept], b.scalar(start, wide))]
    identity = ir.AffineMap.get_identity(kind.rank)
    target = ir.AffineMap.get(kind.rank, 0, [ir.AffineExpr.get_dim(at) for at in kept])
    iterators = [REDUCTION if at == axis else PARALLEL for at in range(kind.rank)]
    source = _flipped(b, x, axis, dtype) if op["reverse"] else x
    found = b.generics([source], outs, [identity, identity, target], iterators, step)[0]
    return _flipped(b, found, axis, dtype) if op["reverse"] else found


def _flipped(b: Builder, x: ir.Value, axis: int, dtype: str) -> ir.Value:
    """x in reverse along an axis."""
    last = b.extent("sub", b.dim(x, axis), 1)

    def position(at: Sequence[ir.Value]) -> list[Extent]:
        return [b.extent("sub", last, index) if place == axis else index for place, index in enumerate(at)]

    return read_at(b, x, b.shape(x), dtype, position)
