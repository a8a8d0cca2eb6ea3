"""Lowerings of convolutions: the padded input and one `linalg.generic`, whose accumulators start from the bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.window import Window
from dlc.lowering.dl_to_linalg.builder import PARALLEL, Builder, Extent, accumulator_dtype
from dlc.lowering.dl_to_linalg.checks import require_groups, require_same, size_of
from dlc.lowering.dl_to_linalg.contraction import Loops, axes_map, contract, rounded, widened, zeros
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.windows import kernel_reach, position_extents


@lowering("conv")
def lower_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Pad, then convolve."""
    x, weight, bias = op.operands
    b.require_equal(size_of(b, op, (0, 1)), ("weight dim 1 times groups", b.extent("mul", b.dim(weight, 1), op["groups"])))
    require_groups(b, size_of(b, op, (1, 0)), op["groups"])
    require_same(b, op, (2, 0), (1, 0))
    window = Window.of("", op.types[1].shape[2:], op["strides"], op["pads"], op["dilations"])
    kernel = b.shape(weight)[2:]
    positions = position_extents(b, b.shape(x)[2:], kernel, window)
    padded = b.pad(x, [0, 0, *window.pads_begin], [0, 0, *window.pads_end], b.scalar(0, op.result.dtype))
    conv = Convolution(b, op.result.dtype, weight, bias, window.strides, window.dilations, op["groups"], positions)
    return rounded(b, conv.apply(padded), op.result.dtype)


@lowering("conv_transpose")
def lower_conv_transpose(b: Builder, op: SourceOp) -> ir.Value:
    """Spread the input by the strides, then convolve with the flipped kernel and stride 1.

    Padding that exceeds the kernel's reach cuts elements of the spread input instead.
    """
    x, weight, bias = op.operands
    _require_transposed_channels(b, op)
    window = Window.of("", op.types[1].shape[2:], op["strides"], op["pads"], op["dilations"])
    extra = op["output_padding"] or (0,) * window.rank
    zero = b.scalar(0, op.result.dtype)
    reach = kernel_reach(b, b.shape(weight)[2:], window)
    before = [b.extent("sub", b.extent("sub", size, 1), begin) for size, begin in zip(reach, window.pads_begin, strict=True)]
    after = [
        b.extent("sub", b.extent("sub", size, 1), end - more) for size, end, more in zip(reach, window.pads_end, extra, strict=True)
    ]
    padded = _pad_or_cut(b, _spread_apart(b, x, window.strides, zero), before, after, zero)
    sizes = b.shape(padded)[2:]
    positions = [b.extent("add", b.extent("sub", size, span), 1) for size, span in zip(sizes, reach, strict=True)]
    for axis, size in enumerate(positions):
        b.require_at_most(("the least size", 0), (f"result dim {axis + 2}", size))
    flipped = _flipped(b, weight, op["groups"])
    ones = (1,) * window.rank
    conv = Convolution(b, op.result.dtype, flipped, bias, ones, window.dilations, op["groups"], positions)
    return rounded(b, conv.apply(padded), op.result.dtype)


def _require_transposed_channels(b: Builder, op: SourceOp) -> None:
    """Fail at run time unless the channels of x, weight and bias fit each other."""
    groups = op["groups"]
    require_same(b, op, (0, 1), (1, 0))
    require_groups(b, size_of(b, op, (1, 0)), groups)
    if op.operands[2] is not None:
        channels = b.extent("mul", b.dim(op.operands[1], 1), groups)
        b.require_equal(size_of(b, op, (2, 0)), ("weight dim 1 times groups", channels))
    for axis in range(2, op.types[0].rank):
        b.require_at_most(("the least size", 1), size_of(b, op, (0, axis)))


@dataclass
class Convolution:
    """A convolution over an input that is padded already, with `positions` outputs per spatial axis.

    `weight` is [out channels, in channels of a group, kernel...]; results are accumulators of `dtype`.
    """

    b: Builder
    dtype: str
    weight: ir.Value
    bias: ir.Value | None
    strides: Sequence[int]
    dilations: Sequence[int]
    groups: int
    positions: Sequence[Extent]

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.positions)

    def apply(self, x: ir.Value) -> ir.Value:
        """The convolution in the form that has the fewest loops."""
        sizes = list(self.weight.type.shape)
        if self.groups == 1 and sizes[2:] == [1] * self.rank:
            return self._pointwise(x if set(self.strides) == {1} else self._sampled(x))
        if self.groups == 1:
            return self._plain(x)
        if sizes[:2] == [self.groups, 1] and x.type.shape[1] == self.groups:
            return self._depthwise(x)
        return self._grouped(x)

    def _plain(self, x: ir.Value) -> ir.Value:
        """(n, oc, positions..., ic, taps...)"""
        start = self._start([self.b.dim(x, 0), self.b.dim(self.weight, 0), *self.positions], [1])
        loops = Loops(2 + self.rank, 1 + self.rank)
        batch, channel, *rest = loops.dims()
        positions, inner, taps = rest[: self.rank], rest[self.rank], rest[self.rank + 1 :]
        maps = [
            loops.map([batch, inner, *self._reads(positions, taps)]),
            loops.map([channel, inner, *taps]),
            loops.map([batch, channel, *positions]),
        ]
        return contract(self.b, loops, x, self.weight, start, maps, self.dtype)

    def _pointwise(self, x: ir.Value) -> ir.Value:
        """A product of matrices per image, (n, oc, p, ic), over merged spatial axes: its lanes are long rows."""
        b, spatial = self.b, list(range(2, 2 + self.rank))
        merged = b.collapse(x, [[0], [1], spatial])
        weight = b.collapse(self.weight, [[0], [1, *spatial]])
        start = self._start([b.dim(x, 0), b.dim(weight, 0), b.dim(merged, 2)], [1])
        loops = Loops(3, 1)
        batch, channel, place, inner = loops.dims()
        maps = [loops.map([batch, inner, place]), loops.map([channel, inner]), loops.map([batch, channel, place])]
        product = contract(b, loops, merged, weight, start, maps, self.dtype)
        shape = [b.dim(x, 0), b.dim(weight, 0), *self.positions]
        return b.expand(product, [[0], [1], spatial], shape)

    def _sampled(self, x: ir.Value) -> ir.Value:
        """The elements of `x` that a kernel of one tap reads, copied so that rows are contiguous."""
        b, rank = self.b, 2 + self.rank
        shape = [b.dim(x, 0), b.dim(x, 1), *self.positions]
        dims = [ir.AffineExpr.get_dim(axis) for axis in range(rank)]
        reads = [dim * stride for dim, stride in zip(dims, [1, 1, *self.strides], strict=True)]
        maps = [ir.AffineMap.get(rank, 0, reads), ir.AffineMap.get_identity(rank)]
        out = b.empty(shape, x.type.element_type)
        return b.generic([x], out, maps, [PARALLEL] * rank, lambda element, _: element)

    def _depthwise(self, x: ir.Value) -> ir.Value:
        """(n, c, positions..., taps...): one channel in and out per group, whose loops are left out."""
        b, spatial = self.b, range(2, 2 + self.rank)
        weight = b.collapse(self.weight, [[0, 1], *([axis] for axis in spatial)])
        start = self._start([b.dim(x, 0), self.groups, *self.positions], [1])
        loops = Loops(2 + self.rank, self.rank)
        batch, channel, *rest = loops.dims()
        positions, taps = rest[: self.rank], rest[self.rank :]
        maps = [
            loops.map([batch, channel, *self._reads(positions, taps)]),
            loops.map([channel, *taps]),
            loops.map([batch, channel, *positions]),
        ]
        return contract(b, loops, x, weight, start, maps, self.dtype)

    def _grouped(self, x: ir.Value) -> ir.Value:
        """(n, g, oc, positions..., ic, taps...): channels split into groups, then merged again."""
        b = self.b
        split = _split_groups(b, x, 1, self.groups)
        weight = _split_groups(b, self.weight, 0, self.groups)
        start = self._start([b.dim(x, 0), self.groups, b.dim(weight, 1), *self.positions], [1, 2])
        loops = Loops(3 + self.rank, 1 + self.rank)
        batch, group, channel, *rest = loops.dims()
        positions, inner, taps = rest[: self.rank], rest[self.rank], rest[self.rank + 1 :]
        maps = [
            loops.map([batch, group, inner, *self._reads(positions, taps)]),
            loops.map([group, channel, inner, *taps]),
            loops.map([batch, group, channel, *positions]),
        ]
        found = contract(b, loops, split, weight, start, maps, self.dtype)
        return b.collapse(found, [[0], [1, 2], *([axis] for axis in range(3, 3 + self.rank))])

    def _reads(self, positions: Sequence[ir.AffineExpr], taps: Sequence[ir.AffineExpr]) -> list[ir.AffineExpr]:
        """Element of the padded input that each tap reads at each position."""
        return [
            position * stride + tap * dilation
            for position, stride, tap, dilation in zip(positions, self.strides, taps, self.dilations, strict=True)
        ]

    def _start(self, shape: Sequence[Extent], channel_axes: Sequence[int]) -> ir.Value:
        """Accumulators that hold the bias of their channel, to which `channel_axes` lead; zero without a bias."""
        b, bias = self.b, self.bias
        if bias is None:
            return zeros(b, shape, self.dtype)
        if len(channel_axes) > 1:
            bias = b.expand(bias, [list(range(len(channel_axes)))], [shape[axis] for axis in channel_axes])
        wide, rank = accumulator_dtype(self.dtype), len(shape)
        maps = [axes_map(rank, channel_axes), ir.AffineMap.get_identity(rank)]
        out = b.empty(shape, wide)
        return b.generic([bias], out, maps, [PARALLEL] * rank, lambda element, _: widened(b, element, wide))


def _split_groups(b: Builder, tensor: ir.Value, axis: int, groups: int) -> ir.Value:
    """`tensor` with axis `axis` split into [groups, size of a group]."""
    shape = b.shape(tensor)
    split = [*shape[:axis], groups, b.extent("floordiv", shape[axis], groups), *shape[axis + 1 :]]
    before = [[at] for at in range(axis)]
    after = [[at + 1] for at in range(axis + 1, len(shape))]
    return b.expand(tensor, [*before, [axis, axis + 1], *after], split)


def _spread_apart(b: Builder, x: ir.Value, strides: Sequence[int], zero: ir.Value) -> ir.Value:
    """`x` with `stride - 1` zeros between neighbours of each spatial axis."""
    if set(strides) == {1}:
        return x
    shape = b.shape(x)
    spans = [
        b.extent("add", b.extent("mul", b.extent("sub", size, 1), stride), 1)
        for size, stride in zip(shape[2:], strides, strict=True)
    ]
    target = b.full([*shape[:2], *spans], zero)
    return b.insert_slice(x, target, [0] * len(shape), shape, [1, 1, *strides])


def _pad_or_cut(b: Builder, x: ir.Value, before: Sequence[Extent], after: Sequence[Extent], zero: ir.Value) -> ir.Value:
    """`x` with so many zeros more on both sides of each spatial axis; a negative number cuts elements."""
    cut_before, cut_after = ([b.extent("max", b.extent("sub", 0, size), 0) for size in side] for side in (before, after))
    shape = b.shape(x)
    if any(size != 0 for size in (*cut_before, *cut_after)):
        kept = [
            b.extent("sub", b.extent("sub", size, low), high)
            for size, low, high in zip(shape[2:], cut_before, cut_after, strict=True)
        ]
        x = b.slice(x, [0, 0, *cut_before], [*shape[:2], *kept], [1] * len(shape))
    low, high = ([b.extent("max", size, 0) for size in side] for side in (before, after))
    return b.pad(x, [0, 0, *low], [0, 0, *high], zero)


def _flipped(b: Builder, weight: ir.Value, groups: int) -> ir.Value:
    """A transposed convolution's [in channels, out channels of a group, taps...] as the weight of a convolution."""
    split = _split_groups(b, weight, 0, groups)
    shape = b.shape(split)
    taps = range(3, len(shape))
    lasts = [b.index(b.extent("sub", shape[axis], 1)) for axis in taps]

    def body(_: ir.Value) -> ir.Value:
        group, out, inner = (b.iteration(axis) for axis in range(3))
        places = [b.binary("arith.subi", last, b.iteration(axis)) for last, axis in zip(lasts, taps, strict=True)]
        return b.create("tensor.extract", [split.type.element_type], [split, group, inner, out, *places])

    target = b.empty([shape[0], shape[2], shape[1], *shape[3:]], split.type.element_type)
    identity = ir.AffineMap.get_identity(len(shape))
    flipped = b.generic([], target, [identity], [PARALLEL] * len(shape), body)
    return b.collapse(flipped, [[0, 1], [2], *([axis] for axis in taps)])
