"""A convolution over padded images as `linalg.generic`s, whose accumulators start from the bias: the loops of each form.

Where many taps would read padding alone, one generic for each band of results.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.dialects.dl.window import Layout
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.contraction import Loops, axes_map, contract, rounded, widened, zeros
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.contractions.tap_bands import TapRange


@dataclass
class Convolution:
    """A convolution over an input that is padded already, with `positions` outputs per spatial axis.

    `weight` is a kernel in `layout`, or one in blocks of output channels; results are accumulators of `dtype`.
    """

    b: Builder
    dtype: str
    weight: ir.Value
    bias: ir.Value | None
    strides: Sequence[int]
    dilations: Sequence[int]
    groups: int
    positions: Sequence[Extent]
    layout: Layout

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.positions)

    @property
    def channels(self) -> Extent:
        """Number of output channels."""
        return self.b.dim(self.weight, self.layout.kernel_out)

    def apply(self, x: ir.Value) -> ir.Value:
        """The convolution in the form that has the fewest loops."""
        sizes, layout = list(self.weight.type.shape), self.layout
        if len(sizes) > 2 + self.rank:
            return self._blocked(x)
        strided = set(self.strides) != {1}
        if self.groups == 1 and set(layout.taps_of(sizes)) == {1} and not (strided and layout.channels_last):
            return self._pointwise(self._sampled(x) if strided else x)
        if self.groups == 1:
            return self._plain(x)
        one_each = sizes[layout.kernel_out] == self.groups and sizes[layout.kernel_in] == 1
        if one_each and x.type.shape[layout.channel] == self.groups:
            return self._depthwise(x)
        return self._grouped(x)

    def in_bands(self, x: ir.Value, bands: Mapping[int, Sequence[TapRange]]) -> ir.Value:
        """The convolution with results cut along the axes of `bands`, where `x` has no padding."""
        b, layout = self.b, self.layout
        is_blocked = self.weight.type.rank > x.type.rank
        channels = b.extent("mul", b.dim(self.weight, 0), b.dim(self.weight, self.rank + 2)) if is_blocked else self.channels
        result = b.empty(layout.image(b.dim(x, 0), [channels], self.positions), self.dtype)
        for chosen in itertools.product(*bands.values()):
            band = dict(zip(bands, chosen, strict=True))
            part = rounded(b, self._of_band(x, band, is_blocked), self.dtype)
            firsts = [band[axis].first if axis in band else 0 for axis in range(self.rank)]
            result = b.insert_slice(part, result, layout.image(0, [0], firsts), b.shape(part), [1] * part.type.rank)
        return result

    def _of_band(self, x: ir.Value, band: Mapping[int, TapRange], is_blocked: bool) -> ir.Value:
        """The results of one band of each axis that is cut."""
        b, layout = self.b, self.layout
        shape, kernel = b.shape(x), b.shape(self.weight)
        starts, taps, positions = [0] * len(shape), [0] * len(kernel), list(self.positions)
        for axis, each in band.items():
            place, tap = layout.spatial[axis], layout.taps[axis] + is_blocked
            starts[place], shape[place], taps[tap], kernel[tap], positions[axis] = (
                each.start,
                each.size,
                each.tap,
                each.taps,
                each.count,
            )
        image = b.slice(x, starts, shape, [1] * len(shape))
        weight = b.slice(self.weight, taps, kernel, [1] * len(kernel))
        return replace(self, weight=weight, positions=positions).apply(image)

    def _plain(self, x: ir.Value) -> ir.Value:
        """Loops over the result, then over the input channels and taps that it sums, both in the order of the layout."""
        layout = self.layout
        start = self._start(layout.image(self.b.dim(x, 0), [self.channels], self.positions), [layout.channel])
        loops = Loops(2 + self.rank, 1 + self.rank)
        image, summed = loops.dims()[: 2 + self.rank], loops.dims()[2 + self.rank :]
        inner, taps = self._summed(summed)
        reads = self._reads(layout.spatial_of(image), taps)
        maps = [
            loops.map(layout.image(image[0], [inner], reads)),
            loops.map(layout.kernel([image[layout.channel]], [inner], taps)),
            loops.map(image),
        ]
        return contract(self.b, loops, x, self.weight, start, maps, self.dtype)

    def _summed(self, dims: Sequence[ir.AffineExpr]) -> tuple[ir.AffineExpr, Sequence[ir.AffineExpr]]:
        """The input channel and the taps among the summed loops: the channel is innermost where it is contiguous."""
        return (dims[-1], dims[:-1]) if self.layout.channels_last else (dims[0], dims[1:])

    def _pointwise(self, x: ir.Value) -> ir.Value:
        """A product of matrices over merged axes: its lanes are long rows.

        Channels first: (n, oc, p, ic), one product per image over its pixels. Channels last: (p, oc, ic) over all pixels.
        """
        b, layout = self.b, self.layout
        last = layout.channels_last
        merging = [[*range(1 + self.rank)], [layout.channel]] if last else [[0], [1], [*layout.spatial]]
        merged = b.collapse(x, merging)
        kernel = [[*range(1 + self.rank)], [layout.kernel_out]] if last else [[0], [*range(1, 2 + self.rank)]]
        weight = b.collapse(self.weight, kernel)
        shape = b.shape(merged)
        shape[-1 if last else 1] = self.channels
        start = self._start(shape, [len(shape) - 1 if last else 1])
        loops = Loops(len(shape), 1)
        *image, inner = loops.dims()
        channel = image[-1 if last else 1]
        places = [image[0], inner] if last else [image[0], inner, image[2]]
        maps = [loops.map(places), loops.map([inner, channel] if last else [channel, inner]), loops.map(image)]
        product = contract(b, loops, merged, weight, start, maps, self.dtype)
        return b.expand(product, merging, layout.image(b.dim(x, 0), [self.channels], self.positions))

    def _blocked(self, x: ir.Value) -> ir.Value:
        """Channels last and a kernel in blocks: (n, positions..., block, lane, taps..., ic), pixels merged for one tap.

        Blocks of groups have two loops, over the groups and over the blocks of each.
        """
        b, weight = self.b, self.weight
        sizes = b.shape(weight)
        image = [b.dim(x, 0), *self.positions]
        one_tap = {*weight.type.shape[1:-2], *self.strides} == {1}
        taken = 1 if one_tap else 1 + self.rank
        if one_tap:
            x = b.collapse(x, [[*range(1 + self.rank)], [1 + self.rank]])
            weight = b.collapse(weight, [[0], [*range(1, 2 + self.rank)], [2 + self.rank]])
        pixels = b.shape(x)[:1] if one_tap else image
        if self.groups > 1:
            x, weight = split_groups(b, x, taken, self.groups), split_groups(b, weight, 0, self.groups)
        outs = [*b.shape(weight)[: -1 - taken], sizes[-1]]
        found = self._products_of_blocks(x, weight, [*pixels, *outs], taken)
        if one_tap:
            found = b.expand(found, [[*range(len(image))], *([len(image) + axis] for axis in range(len(outs)))], [*image, *outs])
        return b.collapse(found, [*([axis] for axis in range(len(image))), [*range(len(image), len(image) + len(outs))]])

    def _products_of_blocks(self, x: ir.Value, weight: ir.Value, shape: Sequence[Extent], taken: int) -> ir.Value:
        """Results of `shape`, (pixels..., [group,] block, lane), whose first `taken` axes are those of pixels."""
        start = self._start(shape, range(taken, len(shape)))
        loops = Loops(len(shape), taken)
        dims = loops.dims()
        image, taps, inner = dims[: len(shape)], dims[len(shape) : -1], dims[-1]
        reads = self._reads(image[1:taken], taps) if taps else []
        maps = [
            loops.map([image[0], *reads, *image[taken:-2], inner]),
            loops.map([*image[taken:-1], *taps, inner, image[-1]]),
            loops.map(image),
        ]
        return contract(self.b, loops, x, weight, start, maps, self.dtype)

    def _sampled(self, x: ir.Value) -> ir.Value:
        """The elements of `x`, channels first, that a kernel of one tap reads, copied so that rows are contiguous."""
        b, rank = self.b, 2 + self.rank
        shape = [b.dim(x, 0), b.dim(x, 1), *self.positions]
        dims = [ir.AffineExpr.get_dim(axis) for axis in range(rank)]
        reads = [dim * stride for dim, stride in zip(dims, [1, 1, *self.strides], strict=True)]
        maps = [ir.AffineMap.get(rank, 0, reads), ir.AffineMap.get_identity(rank)]
        out = b.empty(shape, x.type.element_type)
        return b.generic([x], out, maps, [PARALLEL] * rank, lambda element, _: element)

    def _depthwise(self, x: ir.Value) -> ir.Value:
        """Loops over the result, then the taps: one channel in and out per group, whose loops are left out."""
        b, layout = self.b, self.layout
        joined = [min(layout.kernel_in, layout.kernel_out), max(layout.kernel_in, layout.kernel_out)]
        axes: list[list[int]] = [[axis] for axis in layout.taps]
        weight = b.collapse(self.weight, [*axes, joined] if layout.channels_last else [joined, *axes])
        start = self._start(layout.image(b.dim(x, 0), [self.groups], self.positions), [layout.channel])
        loops = Loops(2 + self.rank, self.rank)
        image, taps = loops.dims()[: 2 + self.rank], loops.dims()[2 + self.rank :]
        channel = image[layout.channel]
        maps = [
            loops.map(layout.image(image[0], [channel], self._reads(layout.spatial_of(image), taps))),
            loops.map(layout.kernel([channel], [], taps)),
            loops.map(image),
        ]
        return contract(b, loops, x, weight, start, maps, self.dtype)

    def _grouped(self, x: ir.Value) -> ir.Value:
        """Loops over the result, its channels split into groups, then over what is summed; the groups merge again."""
        b, layout = self.b, self.layout
        split = split_groups(b, x, layout.channel, self.groups)
        weight = split_groups(b, self.weight, layout.kernel_out, self.groups)
        per_group = b.extent("floordiv", self.channels, self.groups)
        group_axis = layout.channel
        shape = layout.image(b.dim(x, 0), [self.groups, per_group], self.positions)
        start = self._start(shape, [group_axis, group_axis + 1])
        loops = Loops(3 + self.rank, 1 + self.rank)
        image, summed = loops.dims()[: 3 + self.rank], loops.dims()[3 + self.rank :]
        group, channel = image[group_axis], image[group_axis + 1]
        places = image[1:group_axis] if layout.channels_last else image[group_axis + 2 :]
        inner, taps = self._summed(summed)
        maps = [
            loops.map(layout.image(image[0], [group, inner], self._reads(places, taps))),
            loops.map(layout.kernel([group, channel], [inner], taps)),
            loops.map(image),
        ]
        found = contract(b, loops, split, weight, start, maps, self.dtype)
        return b.collapse(found, layout.image([0], [[group_axis, group_axis + 1]], self._merged_places()))

    def _merged_places(self) -> list[list[int]]:
        """The spatial axes of a result whose channels are split in two axes."""
        shift = 0 if self.layout.channels_last else 1
        return [[axis + shift] for axis in self.layout.spatial]

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


def split_groups(b: Builder, tensor: ir.Value, axis: int, groups: int) -> ir.Value:
    """`tensor` with axis `axis` split into [groups, size of a group]."""
    shape = b.shape(tensor)
    split = [*shape[:axis], groups, b.extent("floordiv", shape[axis], groups), *shape[axis + 1 :]]
    before = [[at] for at in range(axis)]
    after = [[at + 1] for at in range(axis + 1, len(shape))]
    return b.expand(tensor, [*before, [axis, axis + 1], *after], split)
