"""Lowerings of dl.conv and dl.conv_transpose: the padded input, and a `Convolution` over it."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.window import Layout, Window
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import require_groups, require_same, size_of
from dlc.lowering.dl_to_linalg.building.contraction import rounded, widened_once
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.windows import kernel_reach, pad_spatial, position_extents
from dlc.lowering.dl_to_linalg.contractions.convolution import Convolution, split_groups
from dlc.lowering.dl_to_linalg.contractions.tap_bands import TapRange, bands_of
from dlc.targets.machine import is_for_gpu


@lowering("conv")
def lower_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Pad, then convolve."""
    x, weight, bias = op.operands
    layout = _layout(op)
    blocked = op.types[1].rank > op.types[0].rank
    _require_channels(b, op, layout, blocked)
    window = _window(op, layout, blocked)
    positions = position_extents(b, x, layout.taps_of(b.shape(weight)[blocked:]), window, layout)
    conv = Convolution(b, op.result.dtype, weight, bias, window.strides, window.dilations, op["groups"], positions, layout)
    zero = b.scalar(0, op.types[0].dtype)
    if op.types[0].dtype == "f16" and layout.channels_last and not _is_depthwise(op, layout):
        x = widened_once(b, x)
        zero = b.scalar(0, "f16" if x.type.element_type == b.element("f16") else "f32")
    bands = _bands(op, conv, window)
    if not bands:
        padded = pad_spatial(b, x, window.pads_begin, window.pads_end, layout, zero)
        return rounded(b, conv.apply(padded), op.result.dtype)
    low, high = ([0 if axis in bands else size for axis, size in enumerate(side)] for side in (window.pads_begin, window.pads_end))
    padded = pad_spatial(b, x, low, high, layout, zero)
    return conv.in_bands(padded, bands)


def _is_depthwise(op: SourceOp, layout: Layout) -> bool:
    """Whether each output channel reads one channel of many."""
    return bool(op["groups"] > 1 and op["groups"] == op.types[0].shape[layout.channel])


def _bands(op: SourceOp, conv: Convolution, window: Window) -> dict[int, list[TapRange]]:
    """The spatial axes that are cut into bands, but for those whose results are lanes.

    Depthwise windows read around padding; tensor cores of a GPU take all results of a convolution together.
    """
    layout, sizes = conv.layout, conv.layout.spatial_of(op.types[0].shape)
    if _is_depthwise(op, layout) or (layout.channels_last and is_for_gpu(conv.b.ip.block.owner.operation)):
        return {}
    axes = range(window.rank if layout.channels_last else window.rank - 1)
    found = {axis: bands_of(window, axis, sizes[axis], conv.positions[axis]) for axis in axes}
    return {axis: bands for axis, bands in found.items() if bands}


@lowering("conv_transpose")
def lower_conv_transpose(b: Builder, op: SourceOp) -> ir.Value:
    """Spread the input by the strides, then convolve with the flipped kernel and stride 1.

    Padding that exceeds the kernel's reach cuts elements of the spread input instead.
    """
    x, weight, bias = op.operands
    layout = _layout(op)
    _require_transposed_channels(b, op, layout)
    window = _window(op, layout)
    extra = op["output_padding"] or (0,) * window.rank
    zero = b.scalar(0, op.result.dtype)
    reach = kernel_reach(b, layout.taps_of(b.shape(weight)), window)
    before = [b.extent("sub", b.extent("sub", size, 1), begin) for size, begin in zip(reach, window.pads_begin, strict=True)]
    after = [
        b.extent("sub", b.extent("sub", size, 1), end - more) for size, end, more in zip(reach, window.pads_end, extra, strict=True)
    ]
    padded = _pad_or_cut(b, _spread_apart(b, x, window.strides, layout, zero), before, after, layout, zero)
    sizes = layout.spatial_of(b.shape(padded))
    positions = [b.extent("add", b.extent("sub", size, span), 1) for size, span in zip(sizes, reach, strict=True)]
    for axis, size in enumerate(positions):
        b.require_at_most(("the least size", 0), (f"result dim {layout.spatial[axis]}", size))
    flipped = _flipped(b, weight, op["groups"], layout)
    ones = (1,) * window.rank
    conv = Convolution(b, op.result.dtype, flipped, bias, ones, window.dilations, op["groups"], positions, layout)
    return rounded(b, conv.apply(padded), op.result.dtype)


def _layout(op: SourceOp) -> Layout:
    return Layout(op.types[0].rank - 2, op["channels_last"])


def _window(op: SourceOp, layout: Layout, blocked: bool = False) -> Window:
    return Window.of("", layout.taps_of(op.types[1].shape[blocked:]), op["strides"], op["pads"], op["dilations"])


def _require_channels(b: Builder, op: SourceOp, layout: Layout, blocked: bool) -> None:
    """Fail at run time unless the channels of x, weight and bias of a convolution fit each other."""
    inner, out = layout.kernel_in + blocked, layout.kernel_out
    channels = b.extent("mul", b.dim(op.operands[1], inner), op["groups"])
    b.require_equal(size_of(b, op, (0, layout.channel)), (f"weight dim {inner} times groups", channels))
    require_groups(b, size_of(b, op, (1, 0 if blocked else out)), op["groups"])
    if not blocked:
        require_same(b, op, (2, 0), (1, out))
    elif op.operands[2] is not None:
        outputs = b.extent("mul", b.dim(op.operands[1], 0), b.dim(op.operands[1], out + 1))
        b.require_equal(size_of(b, op, (2, 0)), ("weight dim 0 times block", outputs))


def _transposed_axes(layout: Layout) -> tuple[int, int]:
    """The axes of the input and output channels in the weight of a transposed convolution."""
    return (layout.kernel_in, layout.kernel_out) if layout.channels_last else (0, 1)


def _require_transposed_channels(b: Builder, op: SourceOp, layout: Layout) -> None:
    """Fail at run time unless the channels of x, weight and bias fit each other."""
    groups = op["groups"]
    inner, out = _transposed_axes(layout)
    require_same(b, op, (0, layout.channel), (1, inner))
    require_groups(b, size_of(b, op, (1, inner)), groups)
    if op.operands[2] is not None:
        channels = b.extent("mul", b.dim(op.operands[1], out), groups)
        b.require_equal(size_of(b, op, (2, 0)), (f"weight dim {out} times groups", channels))
    for axis in layout.spatial:
        b.require_at_most(("the least size", 1), size_of(b, op, (0, axis)))


def _spread_apart(b: Builder, x: ir.Value, strides: Sequence[int], layout: Layout, zero: ir.Value) -> ir.Value:
    """`x` with `stride - 1` zeros between neighbours of each spatial axis."""
    if set(strides) == {1}:
        return x
    shape = b.shape(x)
    spans = [
        b.extent("add", b.extent("mul", b.extent("sub", size, 1), stride), 1)
        for size, stride in zip(layout.spatial_of(shape), strides, strict=True)
    ]
    target = b.full(layout.image(shape[0], [shape[layout.channel]], spans), zero)
    return b.insert_slice(x, target, [0] * len(shape), shape, layout.image(1, [1], strides))


def _pad_or_cut(
    b: Builder, x: ir.Value, before: Sequence[Extent], after: Sequence[Extent], layout: Layout, zero: ir.Value
) -> ir.Value:
    """`x` with so many zeros more on both sides of each spatial axis; a negative number cuts elements."""
    cut_before, cut_after = ([b.extent("max", b.extent("sub", 0, size), 0) for size in side] for side in (before, after))
    shape = b.shape(x)
    if any(size != 0 for size in (*cut_before, *cut_after)):
        kept = [
            b.extent("sub", b.extent("sub", size, low), high)
            for size, low, high in zip(layout.spatial_of(shape), cut_before, cut_after, strict=True)
        ]
        sizes = layout.image(shape[0], [shape[layout.channel]], kept)
        x = b.slice(x, layout.image(0, [0], cut_before), sizes, [1] * len(shape))
    low, high = ([b.extent("max", size, 0) for size in side] for side in (before, after))
    return pad_spatial(b, x, low, high, layout, zero)


def _flipped(b: Builder, weight: ir.Value, groups: int, layout: Layout) -> ir.Value:
    """The weight of a transposed convolution as that of a convolution: taps flipped, groups moved to the outputs."""
    split = split_groups(b, weight, _transposed_axes(layout)[0], groups)
    shape, rank = b.shape(split), layout.rank
    taps = range(rank) if layout.channels_last else range(3, rank + 3)
    lasts = [b.index(b.extent("sub", shape[axis], 1)) for axis in taps]
    at = rank if layout.channels_last else 0
    sizes = [shape[axis] for axis in taps]
    target = layout.kernel([shape[at], shape[at + 2]], [shape[at + 1]], sizes)

    def body(_: ir.Value) -> ir.Value:
        iterations = [b.iteration(axis) for axis in range(rank + 3)]
        inner, group, out = iterations[rank:] if layout.channels_last else (iterations[2], *iterations[:2])
        flips = iterations[:rank] if layout.channels_last else iterations[3:]
        places = [b.binary("arith.subi", last, place) for last, place in zip(lasts, flips, strict=True)]
        element = [*places, group, inner, out] if layout.channels_last else [group, inner, out, *places]
        return b.create("tensor.extract", [split.type.element_type], [split, *element])

    identity = ir.AffineMap.get_identity(rank + 3)
    out = b.empty(target, split.type.element_type)
    flipped = b.generic([], out, [identity], [PARALLEL] * (rank + 3), body)
    joined = [rank + 1, rank + 2] if layout.channels_last else [0, 1]
    return b.collapse(flipped, layout.kernel([joined], [[rank if layout.channels_last else 2]], [[axis] for axis in taps]))
