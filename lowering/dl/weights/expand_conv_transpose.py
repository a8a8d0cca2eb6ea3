"""`dl-expand-conv-transpose`: transposed convolutions become convolutions and a shuffle of pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import TensorType
from dlc.dialects.dl.window import Window
from dlc.lowering.dl.matching import WeightFacts, attributes_of, functions, groups_of, type_of
from dlc.lowering.dl.patterns import sole_user
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.dl.weights.transposed_phases import PhasedAxis, by_phases, by_single_taps
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy

RULES = RuleSet()

_PLACED = frozenset({"dl.batch_norm", "dl.expand", "dl.trilu"})
"""Elementwise ops that ask which place of the image an element has, or whose operands are not aligned at the last axis."""


@dataclass(frozen=True)
class ExpandConvTranspose(Pass):
    """Compute transposed convolutions by convolutions of stride 1, whose results are interleaved.

    Outputs that lie a stride apart take the same taps, every stride-th of the kernel: they are a phase. Each of the products of
    `strides` phases is a convolution of its own with the taps that it has (`transposed_phases.py`); elementwise ops on the result
    are computed in each. The other way, a convolution over an input that is spread apart by zeros, multiplies with `strides` times
    as many. Phases of one or two channels are channels of one convolution with the taps of all phases, as are phases beyond a
    number that makes sense as kernels. Kernels are rearranged by ops on weights. Convolutions whose kernels are not known stay, and
    strides beyond the result, and images of unknown sizes but for kernels as large as the strides, whose phases have one tap each.

    before: %0 = dl.conv_transpose(%x, %w) {strides = [2], pads = [0, 1]} : (tensor<1x32x5xf32>, tensor<32x16x3xf32>)
                 -> tensor<1x16x10xf32>
    after:  %y = dl.pad(%x) : (tensor<1x32x5xf32>) -> tensor<1x32x6xf32>
            %p = dl.conv(%y, %v) : (tensor<1x32x6xf32>, tensor<16x32x2xf32>) -> tensor<1x16x5xf32>      %v = taps 2 and 0 of %w
            %q = dl.conv(%x, %u) : (tensor<1x32x5xf32>, tensor<16x32x1xf32>) -> tensor<1x16x5xf32>      %u = tap 1
            %0 = the elements of %p and %q in turn
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
    """conv_transpose(x, w) = interleave(conv(x, v_p) for each phase p), or shuffle(conv(x, v)) with phases as channels of v"""
    x, weight, bias = groups_of(op)
    found = attributes_of(op)
    kinds = [type_of(value) for value in (x, weight, op.results[0])]
    if found["channels_last"] or not rewriter.is_weight(weight) or not _is_as_inferred(op):
        return False
    if _has_single_taps(kinds, found):
        then = _followers(op, rewriter.is_weight)
        last = then[-1] if then else op
        with ir.InsertionPoint(last):
            value = by_single_taps(x, weight, bias, found["strides"], found["groups"], lambda part: _followed(part, op, then))
        rewriter.replace(last, value)
        return True
    if not all(_is_static_image(kind) for kind in kinds):
        return False
    sizes, kernel, results = ([dim for dim in kind.shape[2:] if isinstance(dim, int)] for kind in kinds)
    window = Window.of("", kernel, found["strides"], found["pads"], found["dilations"])
    if any(stride > result for stride, result in zip(window.strides, results, strict=True)):
        return False  # most of the phases would lie behind the result
    each = list(zip(sizes, kernel, window.strides, window.dilations, window.pads_begin, results, strict=True))
    are_few = math.prod(window.strides) <= policy().graph.most_phases
    phased = [PhasedAxis.of(*axis) for axis in each] if are_few else []
    if are_few and _are_convolutions(phased, kinds, found["groups"]):
        then = _followers(op, rewriter.is_weight)
        last = then[-1] if then else op
        with ir.InsertionPoint(last):
            value = by_phases(x, weight, bias, phased, found["groups"], lambda part: _followed(part, op, then))
        rewriter.replace(last, value)
        return True
    if found["groups"] != 1 or set(window.dilations) != {1} or not kinds[0].is_static:
        return False
    axes = [_Axis.of(size, taps, stride, begin, result) for size, taps, stride, _, begin, result in each]
    if any(min(axis.pads) < 0 for axis in axes):
        return False
    outputs, blocks = kinds[1].shape[1], math.prod(axis.stride for axis in axes)
    assert isinstance(outputs, int)
    shifts = None if bias is None else dl.reshape(dl.tile(bias, repeats=[blocks]), shape=[blocks * outputs])
    pads = [*(axis.pads[0] for axis in axes), *(axis.pads[1] for axis in axes)]
    product = dl.conv(x, _kernel(weight, axes), shifts, pads=pads)
    rewriter.replace(op, _shuffled(product, axes, outputs))
    return True


def _is_as_inferred(op: ir.Operation) -> bool:
    """Whether the result's type is what the operands give, as is that of what would stand for it."""
    (inferred,) = op.opview.inferred_types(*op.opview.operand_types(), **attributes_of(op))
    return bool(inferred == type_of(op.results[0]))


def _has_single_taps(kinds: Sequence[TensorType], found: Mapping[str, Any]) -> bool:
    """Whether taps of an image of unknown size, as many as the stride has, meet one element each: some channels of them."""
    x, weight, result = kinds
    rank, strides = x.rank - 2, tuple(found["strides"])
    is_open = not all(isinstance(dim, int) for dim in (*x.shape[2:], *result.shape[2:]))
    channels = (x.shape[1], *weight.shape)
    if not is_open or not all(isinstance(dim, int) and dim > 0 for dim in channels) or tuple(weight.shape[2:]) != strides:
        return False
    is_plain = not any(found["pads"]) and set(found["dilations"]) <= {1} and not any(found["output_padding"])
    outputs = weight.shape[1]
    is_wide = isinstance(outputs, int) and outputs >= policy().graph.fewest_phase_channels
    return rank == len(strides) and is_plain and is_wide and 1 < math.prod(strides) <= policy().graph.most_phases


def _is_static_image(kind: TensorType) -> bool:
    """Whether all but the batch is known, and not empty."""
    return all(isinstance(dim, int) and dim > 0 for dim in kind.shape[1:]) and kind.shape[0] != 0


def _are_convolutions(axes: Sequence[PhasedAxis], kinds: Sequence[TensorType], groups: int) -> bool:
    """Whether each of few phases becomes a convolution of its own: they are of some channels or of groups."""
    phases, outputs = math.prod(axis.stride for axis in axes), kinds[1].shape[1]
    assert isinstance(outputs, int)
    without_taps = any(not phase.taps for axis in axes for phase in axis.phases)
    if without_taps and not kinds[0].is_static:
        return False
    is_mixed = groups == 1 and all(phase.step == 1 for axis in axes for phase in axis.phases)
    return outputs >= policy().graph.fewest_phase_channels or phases == 1 or not is_mixed


def _followers(op: ir.Operation, is_weight: WeightFacts) -> list[ir.Operation]:
    """The elementwise ops on the result of `op`, one after the other, that treat all places of the image alike."""
    found: list[ir.Operation] = []
    value = op.results[0]
    while (user := sole_user(value)) is not None and _maps_places(user, value, is_weight):
        found.append(user)
        value = user.results[0]
    return found


def _maps_places(op: ir.Operation, value: ir.Value, is_weight: WeightFacts) -> bool:
    """Whether `op` maps the elements of `value`, an image, with weights that are the same at all places."""
    kind = op_class(op.name)
    if kind is None or not kind.is_elementwise or op.name in _PLACED or type_of(op.results[0]).shape != type_of(value).shape:
        return False
    others = [operand for operand in op.operands if operand != value]
    spatial = type_of(value).rank - 2
    return all(is_weight(other) and set(type_of(other).shape[::-1][:spatial]) <= {1} for other in others)


def _followed(part: ir.Value, op: ir.Operation, then: Sequence[ir.Operation]) -> ir.Value:
    """The ops `then`, which follow `op`, on `part` in place of its result."""
    value = op.results[0]
    for follower in then:
        operands = [part if operand is not None and operand == value else operand for operand in groups_of(follower)]
        kind = op_class(follower.name)
        assert kind is not None
        part = kind.create(*operands, **attributes_of(follower)).results[0]
        value = follower.results[0]
    return part


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
