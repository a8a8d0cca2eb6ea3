"""Lowering of roi_align and max_roi_pool: one element a bin and channel, with loops over what the bin covers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.regions import MOST_SAMPLES
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, REDUCTION, Builder
from dlc.lowering.dl_to_linalg.building.checks import require_each, require_elements, require_same, size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering

_LARGEST = float(2**30)
"""Rounded coordinates are moved this near to 0, so that sums of them fit 64 bits."""


@lowering("roi_align")
def lower_roi_align(b: Builder, op: SourceOp) -> ir.Value:
    """Places and weights of samples are put into tables first; then each bin and channel loops over its samples."""
    x, _, images = op.operands
    b.require_equal(size_of(b, op, (1, 1)), ("the numbers of a region", 4))
    require_same(b, op, (1, 0), (2, 0))
    shape = _shape(b, op)
    if 0 in [size for size in shape if isinstance(size, int)]:
        return b.empty(shape, op.result.dtype)
    count = b.dim(x, 0)
    kind = op.types[2].dtype
    require_each(b, images, lambda image: _is_image(b, image, kind, count), "a region is of an image that does not exist")
    down, right = (_Axis(b, op, at, b.dim(x, at)).samples() for at in (2, 3))
    return _per_bin(b, op, shape, lambda: _aligned(b, op, (down, right)))


def _shape(b: Builder, op: SourceOp) -> list[Extent]:
    """The result's sizes; x must have elements where it has."""
    x, rois = op.operands[:2]
    shape = [b.dim(rois, 0), b.dim(x, 1), *op["size"]]
    require_elements(b, op, (0, 2, 3), shape)
    return shape


def _is_image(b: Builder, image: ir.Value, kind: str, count: Extent) -> ir.Value:
    at = b.index_cast(image, ir.IndexType.get()) if kind != "index" else image
    return b.binary("arith.andi", b.compare_index("ge", at, b.index(0)), b.compare_index("lt", at, b.index(count)))


def _per_bin(b: Builder, op: SourceOp, shape: list[Extent], body: Callable[[], ir.Value]) -> ir.Value:
    """A generic over regions, channels, rows and columns of the result."""
    out, dtype = b.empty(shape, op.result.dtype), op.result.dtype
    return b.generic([], out, [ir.AffineMap.get_identity(4)], [PARALLEL] * 4, lambda _: b.narrow(body(), dtype))


@dataclass(frozen=True)
class _Axis:
    """Axis `at` of the images, of `size` elements."""

    b: Builder
    op: SourceOp
    at: int
    size: Extent

    @property
    def kind(self) -> str:
        """The dtype of coordinates."""
        return self.b.wide(self.op.types[1].dtype)

    def number(self, value: float) -> ir.Value:
        """A coordinate."""
        return self.b.scalar(value, self.kind)

    def samples(self) -> _Samples:
        """Where the samples of every bin of every region lie on the axis."""
        b, kind = self.b, self.kind
        start, part, counts = self._regions()
        most = self._largest(counts)
        shape = [b.dim(counts, 0), self.op["size"][self.at - 2], most]
        outs = [b.empty(shape, "i64") for _ in range(2)] + [b.empty(shape, kind) for _ in range(2)]
        by_region = ir.AffineMap.get(3, 0, [ir.AffineExpr.get_dim(0)])

        def body(first: ir.Value, length: ir.Value, count: ir.Value, *_: ir.Value) -> list[ir.Value]:
            return self._taps(first, length, b.convert(count, "i64", kind))

        maps = [by_region] * 3 + [ir.AffineMap.get_identity(3)] * 4
        return _Samples(counts, tuple(b.generics([start, part, counts], outs, maps, [PARALLEL] * 3, body)))

    def _regions(self) -> list[ir.Value]:
        """Start, length of a bin, and number of its samples (i64), by region."""
        b, rois = self.b, self.op.operands[1]
        count, line = b.dim(rois, 0), ir.AffineExpr.get_dim(0)
        outs = [b.empty([count], self.kind), b.empty([count], self.kind), b.empty([count], "i64")]
        reads = [ir.AffineMap.get(1, 0, [line, ir.AffineExpr.get_constant(3 - self.at + place)]) for place in (0, 2)]
        maps = [*reads, *[ir.AffineMap.get_identity(1)] * 3]
        return b.generics([rois, rois], outs, maps, [PARALLEL], lambda start, end, *_: self._measured(start, end))

    def _measured(self, start: ir.Value, end: ir.Value) -> list[ir.Value]:
        b, kind, op = self.b, self.kind, self.op
        scale, dtype = self.number(op["spatial_scale"]), op.types[1].dtype
        start, end = (b.arith("mul", b.widen(edge, dtype), scale, kind) for edge in (start, end))
        if op["coordinates"] == "half_pixel":
            start, end = (b.arith("sub", edge, self.number(0.5), kind) for edge in (start, end))
        length = b.arith("sub", end, start, kind)
        if op["coordinates"] != "half_pixel":
            length = b.arith("max", length, self.number(1.0), kind)
        part = b.arith("div", length, self.number(op["size"][self.at - 2]), kind)
        if op["sampling_ratio"]:
            return [start, part, b.scalar(op["sampling_ratio"], "i64")]
        samples = b.convert(b.unary("math.ceil", part), kind, "i64")
        return [start, part, b.arith("max", samples, b.scalar(0, "i64"), "i64")]

    def _largest(self, counts: ir.Value) -> Extent:
        """The most samples that a bin has on the axis."""
        b, ratio = self.b, self.op["sampling_ratio"]
        if ratio:
            return int(ratio)
        maps = [ir.AffineMap.get_identity(1), ir.AffineMap.get(1, 0, [])]
        start = b.full([], b.scalar(1, "i64"))
        found = b.generic([counts], start, maps, [REDUCTION], lambda each, most: b.arith("max", each, most, "i64"))
        largest = b.index_cast(b.create("tensor.extract", [b.element("i64")], [found]), ir.IndexType.get())
        b.require_at_most(("the number of samples of a bin", largest), ("the most that is taken", MOST_SAMPLES))
        return b.extent("min", largest, MOST_SAMPLES)

    def _taps(self, start: ir.Value, part: ir.Value, count: ir.Value) -> list[ir.Value]:
        """The two elements around the current sample, and their weights."""
        b, kind = self.b, self.kind
        index, sample = (b.convert(b.index_cast(b.iteration(at), b.element("i64")), "i64", kind) for at in (1, 2))
        step = b.arith("div", b.arith("mul", b.arith("add", sample, self.number(0.5), kind), part, kind), count, kind)
        at = b.arith("add", b.arith("add", start, b.arith("mul", index, part, kind), kind), step, kind)
        size = b.convert(b.index_cast(b.index(self.size), b.element("i64")), "i64", kind)
        inside = b.binary("arith.andi", b.compare("ge", at, self.number(-1.0), kind), b.compare("le", at, size, kind))
        moved = b.arith("max", b.arith("min", at, b.arith("sub", size, self.number(1.0), kind), kind), self.number(0.0), kind)
        moved = b.select(inside, moved, self.number(0.0))
        low = b.convert(moved, kind, "i64")
        share = b.arith("sub", moved, b.convert(low, "i64", kind), kind)
        place = clamped(b, b.index_cast(low, ir.IndexType.get()), self.size)
        following = clamped(b, b.binary("arith.addi", place, b.index(1)), self.size)
        weights = [b.arith("sub", self.number(1.0), share, kind), share]
        places = [b.index_cast(each, b.element("i64")) for each in (place, following)]
        return [*places, *(b.select(inside, weight, self.number(0.0)) for weight in weights)]


@dataclass(frozen=True)
class _Samples:
    """Samples along one axis: their numbers by region, and by region, bin and sample two places and two weights."""

    counts: ir.Value
    tables: tuple[ir.Value, ...]

    def count(self, b: Builder, region: ir.Value) -> ir.Value:
        """The number for a region."""
        return b.index_cast(element_at(b, self.counts, [region]), ir.IndexType.get())

    def read(self, b: Builder, at: list[ir.Value], dtypes: tuple[str, str]) -> _Taps:
        """The sample of region, bin and number `at`, with weights of dtype `dtypes[0]` as `dtypes[1]`."""
        found = [element_at(b, table, at) for table in self.tables]
        places = [b.index_cast(place, ir.IndexType.get()) for place in found[:2]]
        weights = [b.convert(weight, *dtypes) for weight in found[2:]]
        return _Taps((places[0], places[1]), (weights[0], weights[1]))


@dataclass(frozen=True)
class _Taps:
    """Two elements along an axis, and their weights."""

    places: tuple[ir.Value, ir.Value]
    weights: tuple[ir.Value, ir.Value]


@dataclass(frozen=True)
class _Bin:
    """The current bin of a channel, combined in dtype `wide`."""

    b: Builder
    op: SourceOp
    axes: tuple[_Samples, _Samples]
    image: ir.Value
    at: tuple[ir.Value, ...]
    """Region, channel, row and column of the result: loops inside cannot ask for them."""

    @property
    def wide(self) -> str:
        return self.b.wide(self.op.result.dtype)

    def taps(self, axis: int, sample: ir.Value) -> _Taps:
        """A sample's elements on an axis of the images."""
        kind = self.b.wide(self.op.types[1].dtype)
        return self.axes[axis].read(self.b, [self.at[0], self.at[axis + 2], sample], (kind, self.wide))

    def element(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """One element of the image, widened."""
        found = element_at(self.b, self.op.operands[0], [self.image, self.at[1], row, column])
        return self.b.widen(found, self.op.result.dtype)

    def mean(self, counts: list[ir.Value]) -> ir.Value:
        """Rows are combined along the columns first, so that each sample takes four products."""
        b, wide = self.b, self.wide
        zero = b.scalar(0, wide)

        def row(y: ir.Value, so_far: ir.Value) -> list[ir.Value]:
            rows = self.taps(0, y)

            def column(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
                columns = self.taps(1, at)
                return [self._along(total, place, columns) for total, place in zip(sums, rows.places, strict=True)]

            sums = b.loop(counts[1], [zero, zero], column)
            for total, weight in zip(sums, rows.weights, strict=True):
                so_far = b.arith("add", so_far, b.arith("mul", total, weight, wide), wide)
            return [so_far]

        total = b.loop(counts[0], [zero], row)[0]
        taken = b.binary("arith.maxsi", b.binary("arith.muli", *counts), b.index(1))
        return b.arith("div", total, b.convert(b.index_cast(taken, b.element("i64")), "i64", wide), wide)

    def _along(self, total: ir.Value, row: ir.Value, columns: _Taps) -> ir.Value:
        for column, weight in zip(columns.places, columns.weights, strict=True):
            total = self.b.arith("add", total, self.b.arith("mul", self.element(row, column), weight, self.wide), self.wide)
        return total

    def largest(self, counts: list[ir.Value]) -> ir.Value:
        """The greatest of all weighted elements."""
        b, wide = self.b, self.wide

        def row(y: ir.Value, so_far: ir.Value) -> list[ir.Value]:
            rows = self.taps(0, y)
            return b.loop(counts[1], [so_far], lambda at, most: [self._at_least(most, rows, self.taps(1, at))])

        found = b.loop(counts[0], [b.lowest(wide)], row)[0]
        taken = b.binary("arith.muli", *counts)
        return b.select(b.compare_index("eq", taken, b.index(0)), b.scalar(0, wide), found)

    def _at_least(self, most: ir.Value, rows: _Taps, columns: _Taps) -> ir.Value:
        b, wide = self.b, self.wide
        for row, down in zip(rows.places, rows.weights, strict=True):
            for column, right in zip(columns.places, columns.weights, strict=True):
                weighted = b.arith("mul", self.element(row, column), b.arith("mul", down, right, wide), wide)
                most = b.arith("max", most, weighted, wide)
        return most


def _aligned(b: Builder, op: SourceOp, axes: tuple[_Samples, _Samples]) -> ir.Value:
    """A bin of a channel, in the wide dtype."""
    at = tuple(b.iteration(axis) for axis in range(4))
    image = b.index_cast(element_at(b, op.operands[2], at[:1]), ir.IndexType.get())
    this = _Bin(b, op, axes, clamped(b, image, b.dim(op.operands[0], 0)), at)
    counts = [axis.count(b, at[0]) for axis in axes]
    return this.largest(counts) if op["mode"] == "max" else this.mean(counts)


@lowering("max_roi_pool")
def lower_max_roi_pool(b: Builder, op: SourceOp) -> ir.Value:
    """Each bin and channel loops over the elements that the bin covers."""
    x, rois = op.operands
    b.require_equal(size_of(b, op, (1, 1)), ("the numbers of a region", 5))
    shape = _shape(b, op)
    if 0 in [size for size in shape if isinstance(size, int)]:
        return b.empty(shape, op.result.dtype)
    images = _image_column(b, op, rois)
    count = b.dim(x, 0)
    require_each(b, images, lambda image: _is_image(b, image, "i64", count), "a region is of an image that does not exist")
    return _per_bin(b, op, shape, lambda: _pooled(b, op, images))


def _image_column(b: Builder, op: SourceOp, rois: ir.Value) -> ir.Value:
    """The images of the regions as i64."""
    dtype = op.types[1].dtype
    first = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_dim(0), ir.AffineExpr.get_constant(0)])
    out = b.empty([b.dim(rois, 0)], "i64")

    def body(image: ir.Value, _: ir.Value) -> ir.Value:
        return b.convert(b.widen(image, dtype), b.wide(dtype), "i64")

    return b.generic([rois], out, [first, ir.AffineMap.get_identity(1)], [PARALLEL], body)


def _pooled(b: Builder, op: SourceOp, images: ir.Value) -> ir.Value:
    """The largest element of a bin of a channel, in the wide dtype."""
    x, wide = op.operands[0], b.wide(op.result.dtype)
    image = clamped(b, b.index_cast(element_at(b, images, [b.iteration(0)]), ir.IndexType.get()), b.dim(x, 0))
    channel = b.iteration(1)
    spans = [_covered(b, op, axis) for axis in (2, 3)]
    counts = [b.binary("arith.subi", end, start) for start, end in spans]

    def row(y: ir.Value, so_far: ir.Value) -> list[ir.Value]:
        def column(at: ir.Value, inner: ir.Value) -> list[ir.Value]:
            places = [b.binary("arith.addi", start, step) for (start, _), step in zip(spans, (y, at), strict=True)]
            places = [clamped(b, each, b.dim(x, axis)) for each, axis in zip(places, (2, 3), strict=True)]
            element = b.widen(element_at(b, x, [image, channel, *places]), op.result.dtype)
            return [b.arith("max", inner, element, wide)]

        return b.loop(counts[1], [so_far], column)

    found = b.loop(counts[0], [b.lowest(wide)], row)[0]
    is_empty = b.binary("arith.ori", *(b.compare_index("le", count, b.index(0)) for count in counts))
    return b.select(is_empty, b.scalar(0, wide), found)


def _covered(b: Builder, op: SourceOp, axis: int) -> tuple[ir.Value, ir.Value]:
    """From and before which elements the current bin lies on an axis of x."""
    bins = op["size"][axis - 2]
    start, end = (_rounded(b, op, place) for place in (4 - axis, 6 - axis))
    length = b.binary("arith.maxsi", b.binary("arith.addi", b.binary("arith.subi", end, start), b.index(1)), b.index(1))
    index = b.iteration(axis)
    following = b.binary("arith.addi", index, b.index(1))
    first = b.extent("floordiv", b.binary("arith.muli", index, length), bins)
    last = b.extent("ceildiv", b.binary("arith.muli", following, length), bins)
    limit = b.index(b.dim(op.operands[0], axis))

    def inside(at: Extent) -> ir.Value:
        moved = b.binary("arith.addi", b.index(at), start)
        return b.binary("arith.minsi", b.binary("arith.maxsi", moved, b.index(0)), limit)

    return inside(first), inside(last)


def _rounded(b: Builder, op: SourceOp, place: int) -> ir.Value:
    """A coordinate of the current region as an index, halves away from 0."""
    dtype = op.types[1].dtype
    kind = b.wide(dtype)
    value = b.widen(element_at(b, op.operands[1], [b.iteration(0), b.index(place)]), dtype)
    scaled = b.arith("mul", value, b.scalar(op["spatial_scale"], kind), kind)
    away = b.unary("math.floor", b.arith("add", b.unary("math.absf", scaled), b.scalar(0.5, kind), kind))
    near = b.arith("min", away, b.scalar(_LARGEST, kind), kind)
    return b.index_cast(b.convert(b.binary("math.copysign", near, scaled), kind, "i64"), ir.IndexType.get())
