"""Sizes of sliding windows at the linalg level, where dims may be dynamic."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.window import Layout, Window
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent


def kernel_reach(b: Builder, kernel: Sequence[Extent], window: Window) -> list[Extent]:
    """Number of elements from the first tap of each axis to the last, both counted."""
    return [
        b.extent("add", b.extent("mul", b.extent("sub", size, 1), dilation), 1)
        for size, dilation in zip(kernel, window.dilations, strict=True)
    ]


def position_extents(b: Builder, x: ir.Value, kernel: Sequence[Extent], window: Window, layout: Layout) -> list[Extent]:
    """Number of positions per spatial axis of an image; see `Window`.

    A dynamic input that is smaller than the reach of the kernel fails at run time.
    """
    reach = kernel_reach(b, kernel, window)
    sizes = layout.spatial_of(b.shape(x))
    for axis, size in enumerate(sizes):
        _require_reach(b, (f"x dim {layout.spatial[axis]}", size), reach[axis], window, axis)
    return [_positions(b, size, reach[axis], window, axis) for axis, size in enumerate(sizes)]


def _require_reach(b: Builder, size: tuple[str, Extent], reach: Extent, window: Window, axis: int) -> None:
    pads = window.pads_begin[axis] + window.pads_end[axis]
    if not isinstance(reach, int) or reach > pads:
        least = b.extent("sub", reach, pads)
        b.require_at_most(("the least size for its kernel", least), size)


def _positions(b: Builder, size: Extent, reach: Extent, window: Window, axis: int) -> Extent:
    begin, end, stride = window.pads_begin[axis], window.pads_end[axis], window.strides[axis]
    if not isinstance(size, int) and isinstance(reach, int) and stride == 1 and reach == begin + end + 1:
        return size
    spare = b.extent("sub", b.extent("add", size, begin + end), reach)
    if not window.ceil_mode:
        return b.extent("add", b.extent("floordiv", spare, stride), 1)
    starts = b.extent("ceildiv", b.extent("add", size, begin), stride)
    return b.extent("min", b.extent("add", b.extent("ceildiv", spare, stride), 1), starts)


def pad_for_positions(
    b: Builder, x: ir.Value, positions: Sequence[Extent], window: Window, layout: Layout, value: ir.Value
) -> ir.Value:
    """`x` padded with `value` as far as the taps of its windows reach."""
    kernel = [size or 1 for size in window.kernel]
    reach = kernel_reach(b, [int(size) for size in kernel], window)
    high = []
    for axis, count in enumerate(positions):
        last = b.extent("add", b.extent("mul", b.extent("sub", count, 1), window.strides[axis]), reach[axis])
        have = b.extent("add", b.dim(x, layout.spatial[axis]), window.pads_begin[axis])
        needs_more = window.ceil_mode or isinstance(last, int)
        high.append(b.extent("max", b.extent("sub", last, have), 0) if needs_more else window.pads_end[axis])
    return pad_spatial(b, x, window.pads_begin, high, layout, value)


def pad_spatial(
    b: Builder, x: ir.Value, low: Sequence[Extent], high: Sequence[Extent], layout: Layout, value: ir.Value
) -> ir.Value:
    """`x` with so many elements `value` before and after each spatial axis."""
    return b.pad(x, layout.image(0, [0], low), layout.image(0, [0], high), value)
