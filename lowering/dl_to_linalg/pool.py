"""Lowerings of poolings: the padded input and one `linalg.generic` over positions and taps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.attributes import elements_of_array
from dlc.dialects.dl.types import FLOATS
from dlc.dialects.dl.window import Layout, Window
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.contraction import Loops, Part, spread, widened
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.windows import pad_for_positions, position_extents
from dlc.lowering.policy import policy


@lowering("max_pool")
def lower_max_pool(b: Builder, op: SourceOp) -> ir.Value:
    """The largest tap, where padding holds the lowest value. The maximum of f16 and bf16 needs no rounding."""
    dtype, window = op.result.dtype, _window(op)
    wide = b.wide(dtype)

    def body(element: ir.Value, best: ir.Value) -> ir.Value:
        return b.narrow(b.arith("max", b.widen(element, dtype), b.widen(best, dtype), wide), dtype)

    return _over_windows(b, op, window, b.lowest(dtype), [b.lowest(dtype)], lambda *taps: [body(*taps)])[0]


@lowering("arg_max_pool")
def lower_arg_max_pool(b: Builder, op: SourceOp) -> ir.Value:
    """The largest tap so far and its place, -1 until a tap lies inside the input."""
    dtype, window, layout = op.types[0].dtype, _window(op), _layout(op)
    wide, places = b.wide(dtype), _Places.of(b, op)

    def body(element: ir.Value, best: ir.Value, place: ir.Value) -> list[ir.Value]:
        value, known = b.widen(element, dtype), b.widen(best, dtype)
        larger = b.compare("gt", value, known, wide)
        if dtype in FLOATS:
            new_nan = b.binary("arith.andi", b.compare("uno", value, value, wide), b.compare("ord", known, known, wide))
            larger = b.binary("arith.ori", larger, new_nan)
        at, inside = places.current(b, window, layout)
        takes = b.binary("arith.ori", larger, b.compare("lt", place, b.scalar(0, "i64"), "i64"))
        takes = b.binary("arith.andi", takes, inside)
        return [b.select(takes, element, best), b.select(takes, at, place)]

    starts = [b.lowest(dtype), b.scalar(-1, "i64")]
    return _over_windows(b, op, window, b.lowest(dtype), starts, body)[1]


@dataclass(frozen=True)
class _Places:
    """How elements of x are counted: the sizes of its axes with channels first, and how far apart neighbours along each are."""

    sizes: tuple[Extent, ...]
    steps: tuple[Extent, ...]

    @staticmethod
    def of(b: Builder, op: SourceOp) -> _Places:
        x, layout = op.operands[0], _layout(op)
        axes = [0, layout.channel, *layout.spatial]
        sizes = [b.dim(x, axis) for axis in axes]
        order = [0, 1, *range(len(axes) - 1, 1, -1)] if op["column_major"] else list(range(len(axes)))
        steps: list[Extent] = [1] * len(axes)
        for inner, outer in zip(reversed(order[1:]), reversed(order[:-1]), strict=True):
            steps[outer] = b.extent("mul", steps[inner], sizes[inner])
        return _Places(tuple(sizes), tuple(steps))

    def current(self, b: Builder, window: Window, layout: Layout) -> tuple[ir.Value, ir.Value]:
        """The place (i64) of the tap that the body of a generic over windows reads, and whether it lies inside x."""
        total = b.extent("mul", b.iteration(0), self.steps[0])
        total = b.extent("add", total, b.extent("mul", b.iteration(layout.channel), self.steps[1]))
        inside = b.scalar(1, "i1")
        for axis, loop in enumerate(layout.spatial):
            start = b.extent("mul", b.iteration(loop), window.strides[axis])
            tap = b.extent("mul", b.iteration(2 + window.rank + axis), window.dilations[axis])
            at = b.index(b.extent("sub", b.extent("add", start, tap), window.pads_begin[axis]))
            low, high = b.compare_index("ge", at, b.index(0)), b.compare_index("lt", at, b.index(self.sizes[2 + axis]))
            inside = b.binary("arith.andi", inside, b.binary("arith.andi", low, high))
            total = b.extent("add", total, b.extent("mul", at, self.steps[2 + axis]))
        return b.index_cast(b.index(total), b.element("i64")), inside


@lowering("avg_pool")
def lower_avg_pool(b: Builder, op: SourceOp) -> ir.Value:
    """The sum of the taps, then one division by the number of those that count."""
    dtype, window = op.result.dtype, _window(op)
    wide = accumulator_dtype(dtype)

    def add(element: ir.Value, total: ir.Value) -> ir.Value:
        return b.arith("add", total, widened(b, element, wide), wide)

    total = _over_windows(b, op, window, b.scalar(0, dtype), [b.scalar(0, wide)], lambda *taps: [add(*taps)])[0]
    taps = math.prod(op["kernel"])
    if _all_taps_count(window, op["count_include_pad"]):
        return b.map([total], b.shape(total), dtype, lambda e: b.narrow(b.arith("div", e, b.scalar(taps, wide), wide), dtype))
    parts = [_counts(b, op, window, axis, total, wide) for axis in range(window.rank)]

    def divide(element: ir.Value, *counts: ir.Value) -> ir.Value:
        count = counts[0]
        for other in counts[1:]:
            count = b.arith("mul", count, other, wide)
        return b.narrow(b.arith("div", element, count, wide), dtype)

    return spread(b, total, parts, dtype, divide)


def _window(op: SourceOp) -> Window:
    return Window.of("", op["kernel"], op["strides"], op["pads"], op["dilations"], op["ceil_mode"])


def _layout(op: SourceOp) -> Layout:
    return Layout(op.types[0].rank - 2, op["channels_last"])


def _over_windows(
    b: Builder,
    op: SourceOp,
    window: Window,
    outside: ir.Value,
    starts: Sequence[ir.Value],
    body: Callable[..., Sequence[ir.Value]],
) -> list[ir.Value]:
    """`body(element, *totals)` over the taps of each window, from `starts`; padding holds `outside`."""
    x, layout = op.operands[0], _layout(op)
    kernel = list(op["kernel"])
    positions = position_extents(b, x, kernel, window, layout)
    padded = pad_for_positions(b, x, positions, window, layout, outside)
    loops = Loops(2 + window.rank, window.rank)
    image, taps = loops.dims()[: 2 + window.rank], loops.dims()[2 + window.rank :]
    batch, channel, places = image[0], image[layout.channel], layout.spatial_of(image)
    reads = [
        place * stride + tap * dilation
        for place, stride, tap, dilation in zip(places, window.strides, taps, window.dilations, strict=True)
    ]
    # Its shape alone says how many taps there are: no other operand does.
    taps_operand = b.empty(kernel, padded.type.element_type)
    outs = [b.full(layout.image(b.dim(x, 0), [b.dim(x, layout.channel)], positions), start) for start in starts]
    maps = [loops.map(layout.image(batch, [channel], reads)), loops.map(taps), *[loops.map(image)] * len(outs)]
    inputs = [padded, taps_operand]
    return b.generics(inputs, outs, maps, loops.iterators, lambda element, _, *totals: body(element, *totals))


def _all_taps_count(window: Window, include_pads: bool) -> bool:
    """True when every window counts all of its taps."""
    return not window.ceil_mode and (include_pads or not any((*window.pads_begin, *window.pads_end)))


def _counts(b: Builder, op: SourceOp, window: Window, axis: int, total: ir.Value, wide: str) -> Part:
    """How many taps count, at least 1, at each position of a spatial axis; a constant where its size is static, and not vast."""
    at, include_pads = _layout(op).spatial[axis], op["count_include_pad"]
    size, positions = b.dim(op.operands[0], at), b.dim(total, at)
    if isinstance(size, int) and isinstance(positions, int) and positions <= policy().limits.added_weight_elements:
        counts = np.maximum(window.counts(axis, size, include_pads), 1)
        return b.dense(elements_of_array(counts.astype(NUMPY_DTYPES[wide]))), [at]
    low = -window.pads_begin[axis] if include_pads else 0
    high = b.extent("add", size, window.pads_end[axis] if include_pads else 0)

    def body(_: ir.Value) -> ir.Value:
        origin = b.extent("mul", b.iteration(0), window.strides[axis])
        origin = b.extent("sub", origin, window.pads_begin[axis])
        dilation = window.dilations[axis]
        first = b.extent("max", b.extent("ceildiv", b.extent("sub", low, origin), dilation), 0)
        end = b.extent("min", b.extent("ceildiv", b.extent("sub", high, origin), dilation), window.kernel[axis] or 1)
        count = b.extent("max", b.extent("sub", end, first), 1)
        return b.convert(b.index_cast(b.index(count), b.element("i64")), "i64", wide)

    out = b.empty([positions], wide)
    return b.generic([], out, [ir.AffineMap.get_identity(1)], [PARALLEL], body), [at]
