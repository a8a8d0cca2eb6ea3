"""Lowering of resize: tables of positions and weights per axis, computed once per point, then reads through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.resize import scaled_dim
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import size_at, size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at, enlarged
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering

_F32 = "f32"
_WHOLE_IN_VECTORS = (1, 2, 4, 8, 16)
"""Vectors hold whole groups of so many equal neighbours."""


@dataclass(frozen=True)
class _Axis:
    """One resized axis: its number, sizes and scale (an f32 scalar, or a number where it is an attribute; None: by the sizes)."""

    number: int
    before: Extent
    after: Extent
    scale: float | ir.Value | None

    def repeat(self) -> int:
        """How often each element stands in the result where that is a whole number, else 0."""
        if isinstance(self.scale, float):
            if isinstance(self.after, int) and (not isinstance(self.before, int) or self.after != self.before * self.scale):
                return 0
            return int(self.scale) if float(self.scale).is_integer() else 0
        if not isinstance(self.before, int) or not isinstance(self.after, int) or not self.before:
            return 0
        return self.after // self.before if self.scale is None and self.after % self.before == 0 else 0


@lowering("resize")
def lower_resize(b: Builder, op: SourceOp) -> ir.Value:
    """Whole-number nearest upsampling divides positions, other nearest modes read through tables; else one pass per axis."""
    x = op.operands[0]
    return _sampled(b, op, x, [_axis(b, op, x, index) for index in range(len(op["axes"]))])


@lowering("dynamic_resize")
def lower_dynamic_resize(b: Builder, op: SourceOp) -> ir.Value:
    """As `lower_resize`, with sizes and scales that are read once."""
    x, _, scales = op.operands
    for operand in (1, 2) if scales is not None else (1,):
        b.require_equal(size_of(b, op, (operand, 0)), ("the number of resized axes", len(op["axes"])))
    axes = []
    for index, axis in enumerate(op["axes"]):
        number = axis % op.result.rank
        before, after = b.dim(x, number), b.declared(number, size_at(b, op, 1, [index]), op.result.shape[number])
        b.require_at_most((f"the least size of axis {number} for its points", b.extent("min", after, 1)), ("its size", before))
        scale = None if scales is None else element_at(b, scales, [index])
        if scale is not None:
            b.require(b.compare("gt", scale, b.scalar(0, _F32), _F32), f"scales[{index}] is not positive")
        axes.append(_Axis(number, before, after, scale))
    return _sampled(b, op, x, axes)


def _sampled(b: Builder, op: SourceOp, x: ir.Value, axes: Sequence[_Axis]) -> ir.Value:
    """x resized along axes."""
    if any(isinstance(axis.after, int) and axis.after == 0 for axis in axes):
        return b.empty(_resized(b, x, axes), op.result.dtype)
    if op["mode"] == "nearest":
        counts = {axis.number: axis.repeat() for axis in axes}
        if _is_repeat(op) and all(counts.values()) and counts.get(op.result.rank - 1, 1) in _WHOLE_IN_VECTORS:
            return enlarged(b, x, [counts.get(at, 1) for at in range(op.result.rank)])
        return _read_nearest(b, op, x, axes)
    for index, axis in enumerate(axes):
        source = op.result.dtype if index == 0 else b.wide(op.result.dtype)
        target = op.result.dtype if index == len(axes) - 1 else b.wide(op.result.dtype)
        x = _combine(b, op, x, axis, source, target)
    return x


def _axis(b: Builder, op: SourceOp, x: ir.Value, index: int) -> _Axis:
    number = op["axes"][index] % op.result.rank
    before = b.dim(x, number)
    scale = float(op["scales"][index]) if op["scales"] else None
    after: Extent = _grown(b, before, scale) if scale is not None else 0
    return _Axis(number, before, op["sizes"][index] if op["sizes"] else after, scale)


def _grown(b: Builder, before: Extent, scale: float) -> Extent:
    """floor(before * scale)."""
    if scale == 1:
        return before
    if isinstance(before, int):
        size = scaled_dim(before, scale)
        assert isinstance(size, int)
        return size
    grown = b.unary("math.floor", b.arith("mul", _number(b, before), b.scalar(scale, _F32), _F32))
    return b.index_cast(b.convert(grown, _F32, "i64"), ir.IndexType.get())


def _is_repeat(op: SourceOp) -> bool:
    """True where every point of whole-number upsampling reads the element p floordiv scale."""
    if op["coordinates"] == "asymmetric":
        return bool(op["rounding"] == "floor")
    return op["coordinates"].endswith("half_pixel") and op["rounding"].startswith("round")


def _resized(b: Builder, x: ir.Value, axes: Sequence[_Axis]) -> list[Extent]:
    shape = b.shape(x)
    for axis in axes:
        shape[axis.number] = axis.after
    return shape


def _read_nearest(b: Builder, op: SourceOp, x: ir.Value, axes: Sequence[_Axis]) -> ir.Value:
    """One generic over the result that reads x at a position per axis."""
    shape = _resized(b, x, axes)
    tables = [_tables(b, op, axis)[0] for axis in axes]
    rank = len(shape)
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(axis.number)]) for axis in axes]

    def body(*scalars: ir.Value) -> ir.Value:
        at: list[Extent] = [b.iteration(number) for number in range(rank)]
        for axis, position in zip(axes, scalars, strict=False):
            at[axis.number] = b.index_cast(position, ir.IndexType.get())
        return element_at(b, x, at)

    out = b.empty(shape, op.result.dtype)
    return b.generic(tables, out, [*maps, ir.AffineMap.get_identity(rank)], [PARALLEL] * rank, body)


def _combine(b: Builder, op: SourceOp, x: ir.Value, axis: _Axis, source: str, target: str) -> ir.Value:
    """One pass along an axis: every point is the weighted sum of a few elements."""
    shape = _resized(b, x, [axis])
    tables = _tables(b, op, axis)
    rank, count = len(shape), len(tables) // 2
    along = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(axis.number)])
    wide = b.wide(op.result.dtype)

    def body(*scalars: ir.Value) -> ir.Value:
        at: list[Extent] = [b.iteration(number) for number in range(rank)]
        total: ir.Value | None = None
        for position, weight in zip(scalars[:count], scalars[count : 2 * count], strict=True):
            at[axis.number] = b.index_cast(position, ir.IndexType.get())
            element = b.widen(element_at(b, x, at), source)
            term = b.arith("mul", element, b.convert(weight, _F32, wide), wide)
            total = term if total is None else b.arith("add", total, term, wide)
        assert total is not None
        return b.narrow(total, target) if target != wide else total

    maps = [*[along] * len(tables), ir.AffineMap.get_identity(rank)]
    return b.generic(tables, b.empty(shape, target), maps, [PARALLEL] * rank, body)


def _tables(b: Builder, op: SourceOp, axis: _Axis) -> list[ir.Value]:
    """Positions (i64), then weights (f32) except for nearest, of the elements that each point along an axis combines."""
    count = {"nearest": 1, "linear": 2, "cubic": 4}[op["mode"]]
    weighted = op["mode"] != "nearest"
    outs = [b.empty([axis.after], "i64") for _ in range(count)]
    outs += [b.empty([axis.after], _F32) for _ in range(count if weighted else 0)]

    def body(*_: ir.Value) -> list[ir.Value]:
        at = _coordinate(b, op, axis, _number(b, b.iteration(0)))
        floor = b.unary("math.floor", at)
        part = b.arith("sub", at, floor, _F32)
        if not weighted:
            return [_position(b, axis, _rounded(b, op["rounding"], floor, part))]
        first = 0 if count == 2 else -1
        points = [_plus(b, floor, first + tap) for tap in range(count)]
        weights = _linear_weights(b, part) if count == 2 else _cubic_weights(b, op, axis, part, points)
        return [*(_position(b, axis, point) for point in points), *weights]

    return b.generics([], outs, [ir.AffineMap.get_identity(1)] * len(outs), [PARALLEL], body)


def _coordinate(b: Builder, op: SourceOp, axis: _Axis, point: ir.Value) -> ir.Value:
    """Where in x a point lies, by the formulas of dl.resize, in their order of operations."""
    kind, half = op["coordinates"], b.scalar(0.5, _F32)
    if kind == "align_corners":
        product = b.arith("mul", point, _number(b, b.extent("sub", axis.before, 1)), _F32)
        return b.arith("div", product, _steps(b, axis), _F32)
    before, after = _number(b, axis.before), _number(b, axis.after)
    scale = _scale(b, axis, before, after)
    if kind == "asymmetric":
        return b.arith("div", point, scale, _F32)
    shifted = b.arith("add", point, half, _F32)
    centered = b.arith("sub", b.arith("div", shifted, scale, _F32), half, _F32)
    if kind == "pytorch_half_pixel":
        single = b.compare_index("eq", b.index(axis.after), b.index(1))
        return b.select(single, b.scalar(0, _F32), centered)
    if kind == "half_pixel":
        return centered
    ratio = b.arith("div", after, b.arith("mul", scale, before, _F32), _F32)
    adjusted = b.arith("sub", b.scalar(1, _F32), ratio, _F32)
    middle = b.arith("div", before, b.scalar(2, _F32), _F32)
    return b.arith("add", b.arith("mul", middle, adjusted, _F32), centered, _F32)


def _steps(b: Builder, axis: _Axis) -> ir.Value:
    """How many steps of one the points of an axis with aligned corners span; 1 where there is one point."""
    if axis.scale is None:
        return _number(b, b.extent("max", b.extent("sub", axis.after, 1), 1))
    before, one = _number(b, axis.before), b.scalar(1, _F32)
    length = b.arith("mul", before, _scale(b, axis, before, before), _F32)
    steps = b.arith("sub", length, one, _F32)
    return b.select(b.compare("eq", length, one, _F32), one, steps)


def _scale(b: Builder, axis: _Axis, before: ir.Value, after: ir.Value) -> ir.Value:
    """What the result's size is by x's along an axis, or the number that is given for it."""
    if axis.scale is None:
        return b.arith("div", after, before, _F32)
    return axis.scale if isinstance(axis.scale, ir.Value) else b.scalar(axis.scale, _F32)


def _rounded(b: Builder, rounding: str, floor: ir.Value, part: ir.Value) -> ir.Value:
    """floor, or floor + 1 where `part`, the fraction above it, rounds up."""
    if rounding == "floor":
        return floor
    predicate = "ge" if rounding == "round_prefer_ceil" else "gt"
    limit = b.scalar(0 if rounding == "ceil" else 0.5, _F32)
    return b.select(b.compare(predicate, part, limit, _F32), _plus(b, floor, 1), floor)


def _linear_weights(b: Builder, part: ir.Value) -> list[ir.Value]:
    return [b.arith("sub", b.scalar(1, _F32), part, _F32), part]


def _cubic_weights(b: Builder, op: SourceOp, axis: _Axis, part: ir.Value, points: Sequence[ir.Value]) -> list[ir.Value]:
    """The cubic convolution kernel at the distances of the four taps."""
    a = op["cubic_coefficient"]
    rest = b.arith("sub", b.scalar(1, _F32), part, _F32)
    outer, inner = (a, -5 * a, 8 * a, -4 * a), (a + 2, -(a + 3), 0.0, 1.0)
    weights = [
        _polynomial(b, outer, _plus(b, part, 1)),
        _polynomial(b, inner, part),
        _polynomial(b, inner, rest),
        _polynomial(b, outer, _plus(b, rest, 1)),
    ]
    if not op["exclude_outside"]:
        return weights
    size, zero = _number(b, axis.before), b.scalar(0, _F32)
    for tap, point in enumerate(points):
        inside = b.binary("arith.andi", b.compare("ge", point, zero, _F32), b.compare("lt", point, size, _F32))
        weights[tap] = b.select(inside, weights[tap], zero)
    total = weights[0]
    for weight in weights[1:]:
        total = b.arith("add", total, weight, _F32)
    return [b.arith("div", weight, total, _F32) for weight in weights]


def _polynomial(b: Builder, coefficients: Sequence[float], t: ir.Value) -> ir.Value:
    """Horner's scheme, highest power first."""
    total = b.scalar(coefficients[0], _F32)
    for coefficient in coefficients[1:]:
        total = _plus(b, b.arith("mul", total, t, _F32), coefficient)
    return total


def _position(b: Builder, axis: _Axis, point: ir.Value) -> ir.Value:
    """A whole f32 coordinate as an i64 position in x."""
    at = b.index_cast(b.convert(point, _F32, "i64"), ir.IndexType.get())
    return b.index_cast(clamped(b, at, axis.before), b.element("i64"))


def _plus(b: Builder, value: ir.Value, number: float) -> ir.Value:
    return value if number == 0 else b.arith("add", value, b.scalar(number, _F32), _F32)


def _number(b: Builder, extent: Extent) -> ir.Value:
    """An extent as f32."""
    if isinstance(extent, int):
        return b.scalar(extent, _F32)
    return b.convert(b.index_cast(extent, b.element("i64")), "i64", _F32)
