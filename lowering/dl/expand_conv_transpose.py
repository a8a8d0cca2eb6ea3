"""`dl-expand-conv-transpose`: transposed convolutions become convolutions and a shuffle of pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.window import Window
from dlc.lowering.dl.matching import attributes_of, functions, groups_of, type_of
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.pass_base import Pass

RULES = RuleSet()


@dataclass(frozen=True)
class ExpandConvTranspose(Pass):
    """Compute what each position of an input adds to a block of outputs as channels of a convolution.

    Outputs that lie a stride apart take the same taps, every stride-th of the kernel: `strides` such sets of outputs are as many
    channels of a convolution of stride 1, which are then laid side by side. The other way, a convolution over an input that
    is spread apart by zeros, multiplies with `strides` times as many. Kernels are rearranged by ops on weights. Dilated and
    grouped ones stay, and those whose sizes or kernels are not known.

    before: %0 = dl.conv_transpose(%x, %w) {strides = [2, 2]} : (tensor<1x8x5x5xf32>, tensor<8x4x2x2xf32>) -> tensor<1x4x10x10xf32>
    after:  %c = dl.conv(%x, %v) : (tensor<1x8x5x5xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x5x5xf32>
            %0 = the 2 x 2 x 4 channels of %c as blocks of 2 x 2 pixels
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, RULES)


@dataclass(frozen=True)
class _Axis:
    """One spatial axis: outputs `begin + q * stride + r`, cut to `size` from `cut` on, where the conv has positions q.

    `taps` are those of the convolution, each `stride` taps of the kernel; `pads` its padding.
    """

    stride: int
    taps: int
    pads: tuple[int, int]
    positions: int
    cut: int
    size: int

    @staticmethod
    def of(size: int, kernel: int, stride: int, begin: int, result: int) -> _Axis:
        """For an input of `size`, of whose full output `result` elements from `begin` on are kept."""
        taps = math.ceil(kernel / stride)
        first = begin // stride
        last = max(begin + result - 1, begin) // stride
        high = last - (size - 1)
        return _Axis(stride, taps, (taps - 1 - first, high), last - first + 1, begin - first * stride, result)


@RULES.rule("dl.conv_transpose")
def conv_transpose_to_conv(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv_transpose(x, w) = shuffle(conv(x, v)), where v holds every stride-th tap of w, the last first"""
    x, weight, bias = groups_of(op)
    found = attributes_of(op)
    kinds = [type_of(value) for value in (x, weight, op.results[0])]
    if found["groups"] != 1 or found["channels_last"] or set(found["dilations"]) - {1} or not rewriter.is_weight(weight):
        return False
    if not all(kind.is_static for kind in kinds) or 0 in [*kinds[1].shape, *kinds[2].shape]:
        return False
    sizes, kernel, results = ([dim for dim in kind.shape[2:] if isinstance(dim, int)] for kind in kinds)
    window = Window.of("", kernel, found["strides"], found["pads"], ())
    axes = [_Axis.of(*each) for each in zip(sizes, kernel, window.strides, window.pads_begin, results, strict=True)]
    if any(min(axis.pads) < 0 for axis in axes):
        return False
    outputs, blocks = kinds[1].shape[1], math.prod(axis.stride for axis in axes)
    assert isinstance(outputs, int)
    shifts = None if bias is None else dl.reshape(dl.tile(bias, repeats=[blocks]), shape=[blocks * outputs])
    pads = [*(axis.pads[0] for axis in axes), *(axis.pads[1] for axis in axes)]
    product = dl.conv(x, _kernel(weight, axes), shifts, pads=pads)
    rewriter.replace(op, _shuffled(product, axes, outputs))
    return True


def _kernel(weight: ir.Value, axes: list[_Axis]) -> ir.Value:
    """[in, out, taps...] as [strides... and out, in, every stride-th tap..., the last first]."""
    rank = len(axes)
    inner, out, *kernel = (dim for dim in type_of(weight).shape if isinstance(dim, int))
    missing = [axis.taps * axis.stride - size for axis, size in zip(axes, kernel, strict=True)]
    if any(missing):
        weight = dl.pad(weight, low=[0] * (rank + 2), high=[0, 0, *missing])
    split = dl.reshape(weight, shape=[inner, out, *(part for axis in axes for part in (axis.taps, axis.stride))])
    taps, strides = range(2, 2 + 2 * rank, 2), range(3, 3 + 2 * rank, 2)
    moved = dl.transpose(split, perm=[*strides, 1, 0, *taps])
    flipped = [rank + 2 + index for index, axis in enumerate(axes) if axis.taps > 1]
    if flipped:
        count = len(flipped)
        least = [-type_of(moved).shape[axis] - 1 for axis in flipped]  # type: ignore[operator]
        moved = dl.slice(moved, starts=[-1] * count, ends=least, axes=flipped, steps=[-1] * count)
    return dl.reshape(moved, shape=[math.prod(axis.stride for axis in axes) * out, inner, *(axis.taps for axis in axes)])


def _shuffled(product: ir.Value, axes: list[_Axis], outputs: int) -> ir.Value:
    """[batch, strides... and out, positions...] as the image [batch, out, positions * stride...], cut to its size."""
    rank, batch = len(axes), type_of(product).shape[0]
    if any(axis.stride > 1 for axis in axes):
        split = dl.reshape(product, shape=[batch, *(axis.stride for axis in axes), outputs, *(axis.positions for axis in axes)])
        pairs = [part for index in range(rank) for part in (rank + 2 + index, 1 + index)]
        moved = dl.transpose(split, perm=[0, rank + 1, *pairs])
        product = dl.reshape(moved, shape=[batch, outputs, *(axis.positions * axis.stride for axis in axes)])
    cuts = [index for index, axis in enumerate(axes) if (axis.cut, axis.size) != (0, axis.positions * axis.stride)]
    if not cuts:
        return product
    starts = [axes[index].cut for index in cuts]
    ends = [axes[index].cut + axes[index].size for index in cuts]
    return dl.slice(product, starts=starts, ends=ends, axes=[index + 2 for index in cuts], steps=[1] * len(cuts))
