"""Lowering of grid_sample: tables of positions and weights per axis, one entry a point, then reads through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.sample import CUBIC_COEFFICIENT
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import require_elements, require_same, size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering

_MODES = ("nearest", "linear", "cubic")
"""In this order each mode combines twice as many elements of an axis as the one before: 1, 2 and 4."""


@lowering("grid_sample")
def lower_grid_sample(b: Builder, op: SourceOp) -> ir.Value:
    """Coordinates are computed once for all channels."""
    x, grid = op.operands
    require_same(b, op, (1, 0), (0, 0))
    b.require_equal(size_of(b, op, (1, -1)), ("the number of spatial axes", op.types[0].rank - 2))
    points = b.shape(grid)[:-1]
    shape = [points[0], b.dim(x, 1), *points[1:]]
    require_elements(b, op, range(2, op.types[0].rank), shape)
    if any(isinstance(size, int) and size == 0 for size in shape):
        return b.empty(shape, op.result.dtype)
    axes = [_Axis(op, b.dim(x, axis), b.wide(op.types[1].dtype)) for axis in range(2, op.types[0].rank)]
    tables = [_tables(b, grid, axis, len(axes) - 1 - index, points) for index, axis in enumerate(axes)]
    return _read(b, op, axes, tables, shape)


@dataclass(frozen=True)
class _Axis:
    """A spatial axis of `size` elements, with coordinates of dtype `kind`."""

    op: SourceOp
    size: Extent
    kind: str

    @property
    def num_taps(self) -> int:
        """Number of elements that a point combines along the axis."""
        return int(2 ** _MODES.index(self.op["mode"]))

    def number(self, b: Builder, extent: Extent) -> ir.Value:
        """An extent as a coordinate."""
        if isinstance(extent, int):
            return b.scalar(extent, self.kind)
        return b.convert(b.index_cast(extent, b.element("i64")), "i64", self.kind)

    def plus(self, b: Builder, value: ir.Value, number: float) -> ir.Value:
        """A coordinate moved by a constant."""
        return value if number == 0 else b.arith("add", value, b.scalar(number, self.kind), self.kind)

    def coordinate(self, b: Builder, entry: ir.Value) -> ir.Value:
        """Where in x a grid's entry points, by the formulas of dl.grid_sample, in their order of operations."""
        kind, two = self.kind, b.scalar(2, self.kind)
        if self.op["coordinates"] == "pixels":
            return entry
        shifted = self.plus(b, entry, 1)
        if self.op["coordinates"] == "align_corners":
            last = self.number(b, b.extent("sub", self.size, 1))
            return b.arith("mul", b.arith("div", shifted, two, kind), last, kind)
        return b.arith("div", self.plus(b, b.arith("mul", shifted, self.number(b, self.size), kind), -1), two, kind)

    def moved(self, b: Builder, at: ir.Value) -> ir.Value:
        """A coordinate as it is (zeros), moved to the nearest element (border) or mirrored at the ends (reflection)."""
        kind, padding = self.kind, self.op["padding"]
        if padding == "zeros":
            return at
        last = self.number(b, b.extent("sub", self.size, 1))
        edge = 0.0 if self.op["coordinates"] == "align_corners" else 0.5
        low, high = b.scalar(-edge, kind), self.plus(b, last, edge)
        if padding == "border":
            outside = b.binary("arith.ori", b.compare("lt", at, low, kind), b.compare("gt", at, high, kind))
            return b.select(outside, b.arith("min", b.arith("max", at, b.scalar(0, kind), kind), last, kind), at)
        distance, span = b.unary("math.absf", b.arith("sub", at, low, kind)), b.arith("sub", high, low, kind)
        turns = b.unary("math.floor", b.arith("div", distance, span, kind))
        rest = b.arith("sub", distance, b.arith("mul", turns, span, kind), kind)
        half = b.unary("math.floor", b.arith("mul", turns, b.scalar(0.5, kind), kind))
        is_even = b.compare("eq", turns, b.arith("add", half, half, kind), kind)
        return b.select(is_even, b.arith("add", low, rest, kind), b.arith("sub", high, rest, kind))

    def position(self, b: Builder, point: ir.Value) -> ir.Value:
        """A whole coordinate as an i64 position in x; -1 where there is a 0 instead."""
        at = b.convert(self.moved(b, point), self.kind, "i64")
        inside = b.index_cast(clamped(b, b.index_cast(at, ir.IndexType.get()), self.size), b.element("i64"))
        if self.op["padding"] != "zeros":
            return inside
        return b.select(b.compare("eq", at, inside, "i64"), inside, b.scalar(-1, "i64"))

    def weights(self, b: Builder, part: ir.Value) -> list[ir.Value]:
        """Weights of the taps of a point that lies `part` behind an element."""
        rest = b.arith("sub", b.scalar(1, self.kind), part, self.kind)
        if self.num_taps == 2:
            return [rest, part]
        a = CUBIC_COEFFICIENT
        outer, inner = (a, -5 * a, 8 * a, -4 * a), (a + 2, -(a + 3), 0.0, 1.0)
        places = [(outer, self.plus(b, part, 1)), (inner, part), (inner, rest), (outer, self.plus(b, rest, 1))]
        return [self._polynomial(b, coefficients, place) for coefficients, place in places]

    def _polynomial(self, b: Builder, coefficients: Sequence[float], t: ir.Value) -> ir.Value:
        """Horner's scheme, highest power first."""
        total = b.scalar(coefficients[0], self.kind)
        for coefficient in coefficients[1:]:
            total = self.plus(b, b.arith("mul", total, t, self.kind), coefficient)
        return total


def _tables(b: Builder, grid: ir.Value, axis: _Axis, entry: int, points: Sequence[Extent]) -> list[ir.Value]:
    """Positions (i64), then weights except for nearest, of the elements that each point combines along an axis."""
    count, rank = axis.num_taps, len(points)
    outs = [b.empty(points, "i64") for _ in range(count)]
    outs += [b.empty(points, axis.kind) for _ in range(count if count > 1 else 0)]
    dims = [ir.AffineExpr.get_dim(at) for at in range(rank)]
    read = ir.AffineMap.get(rank, 0, [*dims, ir.AffineExpr.get_constant(entry)])

    def body(element: ir.Value, *_: ir.Value) -> list[ir.Value]:
        at = axis.coordinate(b, b.widen(element, axis.op.types[1].dtype))
        if count == 1:
            return [axis.position(b, axis.moved(b, b.unary("math.roundeven", at)))]
        at = axis.moved(b, at)
        floor = b.unary("math.floor", at)
        part = b.arith("sub", at, floor, axis.kind)
        first = 0 if count == 2 else -1
        positions = [axis.position(b, axis.plus(b, floor, first + tap)) for tap in range(count)]
        return [*positions, *axis.weights(b, part)]

    return b.generics([grid], outs, [read, *[ir.AffineMap.get_identity(rank)] * len(outs)], [PARALLEL] * rank, body)


def _read(
    b: Builder, op: SourceOp, axes: Sequence[_Axis], tables: Sequence[Sequence[ir.Value]], shape: Sequence[Extent]
) -> ir.Value:
    """One generic over the result that combines elements of x, axis by axis."""
    dtype, rank = op.result.dtype, len(shape)
    dims = [ir.AffineExpr.get_dim(at) for at in range(rank) if at != 1]
    every = [table for group in tables for table in group]
    maps = [*[ir.AffineMap.get(rank, 0, dims)] * len(every), ir.AffineMap.get_identity(rank)]

    def body(*scalars: ir.Value) -> ir.Value:
        groups = [scalars[at : at + len(tables[0])] for at in range(0, len(every), len(tables[0]))]
        return b.narrow(_combined(b, op, axes, groups, [b.iteration(0), b.iteration(1)]), dtype)

    return b.generic(every, b.empty(shape, dtype), maps, [PARALLEL] * rank, body)


def _combined(
    b: Builder, op: SourceOp, axes: Sequence[_Axis], groups: Sequence[Sequence[ir.Value]], at: Sequence[ir.Value]
) -> ir.Value:
    """x combined along the axes that are left, the ones before being read at `at`; in the wide dtype."""
    done, dtype = len(at) - 2, op.result.dtype
    if done == len(axes):
        return _element(b, op, axes, at)
    count, wide = axes[done].num_taps, b.wide(dtype)
    index = ir.IndexType.get()
    parts = [_combined(b, op, axes, groups, [*at, b.index_cast(place, index)]) for place in groups[done][:count]]
    if count == 1:
        return parts[0]
    weights = [b.convert(weight, axes[done].kind, wide) for weight in groups[done][count:]]
    terms = [b.arith("mul", part, weight, wide) for part, weight in zip(parts, weights, strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = b.arith("add", total, term, wide)
    return total


def _element(b: Builder, op: SourceOp, axes: Sequence[_Axis], at: Sequence[ir.Value]) -> ir.Value:
    """One element of x, widened; 0 where a position is -1."""
    dtype = op.result.dtype
    if op["padding"] != "zeros":
        return b.widen(element_at(b, op.operands[0], at), dtype)
    places = [*at[:2], *(clamped(b, place, axis.size) for place, axis in zip(at[2:], axes, strict=True))]
    inside = b.compare_index("ge", at[2], b.index(0))
    for place in at[3:]:
        inside = b.binary("arith.andi", inside, b.compare_index("ge", place, b.index(0)))
    found = b.widen(element_at(b, op.operands[0], places), dtype)
    return b.select(inside, found, b.scalar(0, b.wide(dtype)))
