"""Lowering of col2im: each element of an image gathers what the taps that see it hold."""

from __future__ import annotations

import math

from dlc._mlir import ir
from dlc.dialects.dl.window import Window
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, REDUCTION, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.checks import require_groups, size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("col2im")
def lower_col2im(b: Builder, op: SourceOp) -> ir.Value:
    """One reduction over taps; a tap that sees the element at no position adds 0."""
    x, dtype, image, kernel = op.operands[0], op.result.dtype, list(op["image"]), list(op["kernel"])
    window = Window.of("", kernel, op["strides"], op["pads"], op["dilations"])
    positions = [int(str(size)) for size in window.output_dims("", tuple(image))]
    count = math.prod(kernel)
    require_groups(b, size_of(b, op, (0, 1)), count)
    b.require_equal(size_of(b, op, (0, 2)), ("the number of positions", math.prod(positions)))
    shape: list[Extent] = [b.dim(x, 0), b.extent("floordiv", b.dim(x, 1), count), *image]
    rank, wide = len(image), accumulator_dtype(dtype)
    dims = [ir.AffineExpr.get_dim(axis) for axis in range(2 + 2 * rank)]
    maps = [ir.AffineMap.get(len(dims), 0, dims[2 + rank :]), ir.AffineMap.get(len(dims), 0, dims[: 2 + rank])]

    def body(_: ir.Value, total: ir.Value) -> ir.Value:
        tap, place, seen = _seen(b, window, positions)
        row = b.extent("add", b.extent("mul", b.iteration(1), count), tap)
        at = [b.iteration(0), row, clamped(b, b.index(place), math.prod(positions))]
        element = b.select(seen, element_at(b, x, at), b.scalar(0, dtype))
        return b.arith("add", total, b.widen(element, dtype), wide)

    taps = b.empty(kernel, dtype)
    out = b.full(shape, b.scalar(0, wide))
    sums = b.generic([taps], out, maps, [PARALLEL] * (2 + rank) + [REDUCTION] * rank, body)
    return sums if wide == dtype else b.map([sums], shape, dtype, lambda element: b.narrow(element, dtype))


def _seen(b: Builder, window: Window, positions: list[int]) -> tuple[Extent, Extent, ir.Value]:
    """The number of the tap, that of the position at which it sees the current element, and whether there is one."""
    tap: Extent = 0
    place: Extent = 0
    seen = b.scalar(1, "i1")
    for axis, count in enumerate(positions):
        step = b.iteration(2 + window.rank + axis)
        moved = b.extent("add", b.iteration(2 + axis), window.pads_begin[axis])
        origin = b.extent("sub", moved, b.extent("mul", step, window.dilations[axis]))
        at = b.index(b.extent("floordiv", origin, window.strides[axis]))
        is_whole = b.compare_index("eq", b.index(b.extent("mul", at, window.strides[axis])), b.index(origin))
        low, high = b.compare_index("ge", at, b.index(0)), b.compare_index("lt", at, b.index(count))
        for holds in (is_whole, low, high):
            seen = b.binary("arith.andi", seen, holds)
        tap = b.extent("add", b.extent("mul", tap, window.kernel[axis] or 1), step)
        place = b.extent("add", b.extent("mul", place, count), at)
    return tap, place, seen
