"""Lowerings of poolings: the padded input and one `linalg.generic` over positions and taps."""

from __future__ import annotations

import math

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.attributes import elements_of_array
from dlc.dialects.dl.window import Layout, Window
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Body, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.contraction import Loops, Part, spread, widened
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.windows import pad_for_positions, position_extents


@lowering("max_pool")
def lower_max_pool(b: Builder, op: SourceOp) -> ir.Value:
    """The largest tap, where padding holds the lowest value. The maximum of f16 and bf16 needs no rounding."""
    dtype, window = op.result.dtype, _window(op)
    wide = b.wide(dtype)

    def body(element: ir.Value, best: ir.Value) -> ir.Value:
        return b.narrow(b.arith("max", b.widen(element, dtype), b.widen(best, dtype), wide), dtype)

    return _over_windows(b, op, window, b.lowest(dtype), b.lowest(dtype), body)


@lowering("avg_pool")
def lower_avg_pool(b: Builder, op: SourceOp) -> ir.Value:
    """The sum of the taps, then one division by the number of those that count."""
    dtype, window = op.result.dtype, _window(op)
    wide = accumulator_dtype(dtype)

    def add(element: ir.Value, total: ir.Value) -> ir.Value:
        return b.arith("add", total, widened(b, element, wide), wide)

    total = _over_windows(b, op, window, b.scalar(0, dtype), b.scalar(0, wide), add)
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


def _over_windows(b: Builder, op: SourceOp, window: Window, outside: ir.Value, start: ir.Value, body: Body) -> ir.Value:
    """`body(element, total)` over the taps of each window, from `start`; padding holds `outside`."""
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
    out = b.full(layout.image(b.dim(x, 0), [b.dim(x, layout.channel)], positions), start)
    maps = [loops.map(layout.image(batch, [channel], reads)), loops.map(taps), loops.map(image)]
    return b.generic([padded, taps_operand], out, maps, loops.iterators, lambda element, _, total: body(element, total))


def _all_taps_count(window: Window, include_pads: bool) -> bool:
    """True when every window counts all of its taps."""
    return not window.ceil_mode and (include_pads or not any((*window.pads_begin, *window.pads_end)))


def _counts(b: Builder, op: SourceOp, window: Window, axis: int, total: ir.Value, wide: str) -> Part:
    """How many taps count, at least 1, at each position of a spatial axis; a constant where its size is static."""
    at, include_pads = _layout(op).spatial[axis], op["count_include_pad"]
    size, positions = b.dim(op.operands[0], at), b.dim(total, at)
    if isinstance(size, int):
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
