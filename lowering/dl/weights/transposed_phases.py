"""Transposed convolutions by phases: outputs a stride apart take the same taps, by a convolution of stride 1.

Of output + pad_begin = input * stride + tap * dilation follows for phase p of an axis

    result[p + q * stride] = sum over j of x[q + first + j * step] * weight[last_tap - j * tap_step]

With strides along several axes, a phase of each makes a phase of the image.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.lowering.dl.matching import type_of


@dataclass(frozen=True)
class PolyphaseComponent:
    """The outputs of one phase along one axis, which may have no taps."""

    taps: int
    last_tap: int
    tap_step: int
    first: int
    step: int

    def end(self, positions: int) -> int:
        """The element of x behind the last one that so many outputs read."""
        return self.first + (self.taps - 1) * self.step + positions


@dataclass(frozen=True)
class PhasedAxis:
    """A spatial axis of x with `size` elements, of the result with `result`, of which each phase computes `positions`."""

    size: int
    result: int
    stride: int
    phases: tuple[PolyphaseComponent, ...]

    @staticmethod
    def of(size: int, kernel: int, stride: int, dilation: int, begin: int, result: int) -> PhasedAxis:
        """For so many taps, where `begin` elements of the full output are cut before the result."""
        phases = tuple(_phase(offset + begin, kernel, stride, dilation) for offset in range(stride))
        return PhasedAxis(size, result, stride, phases)

    @property
    def positions(self) -> int:
        """Outputs of a phase; those of the last ones may lie behind the result."""
        return -(-self.result // self.stride)

    @property
    def padding(self) -> tuple[int, int]:
        """Zeros before and after x that the phases read."""
        used = [phase for phase in self.phases if phase.taps]
        low = max((-phase.first for phase in used), default=0)
        high = max((phase.end(self.positions) - self.size for phase in used), default=0)
        return max(low, 0), max(high, 0)


def _phase(place: int, kernel: int, stride: int, dilation: int) -> PolyphaseComponent:
    """The phase of the outputs at `place`, `place + stride`, ... of the full output."""
    common = math.gcd(stride, dilation)
    tap_step, step = stride // common, dilation // common
    if place % common:
        return PolyphaseComponent(0, 0, tap_step, 0, step)
    tap = place // common * pow(step, -1, tap_step) % tap_step if tap_step > 1 else 0
    taps = max(0, -(-(kernel - tap) // tap_step))
    last = tap + (taps - 1) * tap_step
    return PolyphaseComponent(taps, last, tap_step, (place - last * dilation) // stride, step)


def by_phases(
    x: ir.Value,
    weight: ir.Value,
    bias: ir.Value | None,
    axes: Sequence[PhasedAxis],
    groups: int,
    then: Callable[[ir.Value], ir.Value],
) -> ir.Value:
    """Build the result, `then` applied to each phase: x is [batch, channels, spatial...] and weight [in, out / groups, taps...]."""
    if math.prod(axis.stride for axis in axes) == 1:
        return then(_single(x, weight, bias, axes, groups))
    padded = _padded(x, axes)
    parts = []
    for phases in itertools.product(*(axis.phases for axis in axes)):
        if all(phase.taps for phase in phases):
            part = _part_of(x, padded, axes, phases)
            steps = [phase.step for phase in phases]
            found = dl.conv(part, _kernel_of(weight, phases, groups), bias, dilations=steps, groups=groups)
        else:
            found = _without_taps(x, weight, bias, axes, groups)
        parts.append(then(found))
    return _interleaved(parts, axes)


def by_single_taps(
    x: ir.Value, weight: ir.Value, bias: ir.Value | None, strides: Sequence[int], groups: int, then: Callable[[ir.Value], ir.Value]
) -> ir.Value:
    """Build the result for kernels as large as `strides`, without padding: each phase has one tap, whatever the sizes of x are."""
    phases = [[_phase(offset, stride, stride, 1) for offset in range(stride)] for stride in strides]
    kernels = [_kernel_of(weight, each, groups) for each in itertools.product(*phases)]
    joined = _joined([then(dl.conv(x, kernel, bias, groups=groups)) for kernel in kernels], strides)
    for index in [index for index, stride in reversed(list(enumerate(strides))) if stride > 1]:
        at = 2 + index + sum(stride > 1 for stride in strides[:index])
        kept = [axis for axis in range(type_of(joined).rank) if axis != at + 1]
        copied = [-1 if axis == at else axis for axis in kept]
        joined = dl.reshape(joined, shape=[-1] * len(kept), copied=copied)
    return joined


def _single(x: ir.Value, weight: ir.Value, bias: ir.Value | None, axes: Sequence[PhasedAxis], groups: int) -> ir.Value:
    """The only phase of strides of 1, with the padding of its own convolution."""
    phases = [axis.phases[0] for axis in axes]
    low = [-phase.first for phase in phases]
    high = [phase.end(axis.positions) - axis.size for axis, phase in zip(axes, phases, strict=True)]
    cuts = [(max(0, -before), axis.size - max(0, -after)) for axis, before, after in zip(axes, low, high, strict=True)]
    part = _cut(x, [axis.size for axis in axes], cuts)
    pads = [max(0, size) for size in (*low, *high)]
    steps = [phase.step for phase in phases]
    return dl.conv(part, _kernel_of(weight, phases, groups), bias, pads=pads, dilations=steps, groups=groups)


def _padded(x: ir.Value, axes: Sequence[PhasedAxis]) -> ir.Value:
    low, high = ([0, 0, *(axis.padding[side] for axis in axes)] for side in (0, 1))
    return dl.pad(x, low=low, high=high) if any((*low, *high)) else x


def _part_of(x: ir.Value, padded: ir.Value, axes: Sequence[PhasedAxis], phases: Sequence[PolyphaseComponent]) -> ir.Value:
    """What the phases read: of x itself where no padding is in it."""
    spans = [(phase.first, phase.end(axis.positions)) for axis, phase in zip(axes, phases, strict=True)]
    if all(start >= 0 and end <= axis.size for (start, end), axis in zip(spans, axes, strict=True)):
        return _cut(x, [axis.size for axis in axes], spans)
    lows = [axis.padding[0] for axis in axes]
    sizes = [axis.size + sum(axis.padding) for axis in axes]
    return _cut(padded, sizes, [(start + low, end + low) for (start, end), low in zip(spans, lows, strict=True)])


def _cut(x: ir.Value, sizes: Sequence[int], spans: Sequence[tuple[int, int]]) -> ir.Value:
    """Elements from start to end of each spatial axis, which has so many."""
    cuts = [axis for axis, (size, span) in enumerate(zip(sizes, spans, strict=True)) if span != (0, size)]
    if not cuts:
        return x
    starts, ends = [spans[axis][0] for axis in cuts], [spans[axis][1] for axis in cuts]
    return dl.slice(x, starts=starts, ends=ends, axes=[axis + 2 for axis in cuts], steps=[1] * len(cuts))


def _kernel_of(weight: ir.Value, phases: Sequence[PolyphaseComponent], groups: int) -> ir.Value:
    """The taps of the phases, the last ones first, as the kernel [out, in / groups, taps...] of a convolution."""
    inner, out, *kernel = _sizes(weight)
    starts = [phase.last_tap for phase in phases]
    firsts = [phase.last_tap - (phase.taps - 1) * phase.tap_step for phase in phases]
    ends = [first - 1 if first else -size - 1 for first, size in zip(firsts, kernel, strict=True)]
    axes = range(2, 2 + len(kernel))
    taken = dl.slice(weight, starts=starts, ends=ends, axes=axes, steps=[-phase.tap_step for phase in phases])
    taps = [phase.taps for phase in phases]
    if groups == 1:
        return dl.transpose(taken, perm=[1, 0, *axes])
    split = dl.reshape(taken, shape=[groups, inner // groups, out, *taps])
    moved = dl.transpose(split, perm=[0, 2, 1, *(axis + 1 for axis in axes)])
    return dl.reshape(moved, shape=[groups * out, inner // groups, *taps])


def _without_taps(x: ir.Value, weight: ir.Value, bias: ir.Value | None, axes: Sequence[PhasedAxis], groups: int) -> ir.Value:
    """The bias, or zeros, as the result of a phase; the batch is static."""
    channels, dtype = _sizes(weight)[1] * groups, type_of(weight).dtype
    shape = [type_of(x).shape[0], channels, *(axis.positions for axis in axes)]
    start = dl.constant(value=np.zeros(channels, NUMPY_DTYPES[dtype])) if bias is None else bias
    return dl.expand(dl.reshape(start, shape=[channels, *[1] * len(axes)]), shape=shape)


def _interleaved(parts: Sequence[ir.Value], axes: Sequence[PhasedAxis]) -> ir.Value:
    """The results of all phases, those of the last axis fastest, side by side, and cut to the size of the result."""
    joined = _joined(parts, [axis.stride for axis in axes])
    sizes = [axis.positions * axis.stride for axis in axes]
    return _cut(_merged(joined, sizes), sizes, [(0, axis.result) for axis in axes])


def _joined(parts: Sequence[ir.Value], strides: Sequence[int]) -> ir.Value:
    """The results of all phases, each axis of several followed by one for them, so that every part is a slice of one buffer."""
    strided = [index for index, stride in enumerate(strides) if stride > 1]
    places = {index: 3 + index + count for count, index in enumerate(strided)}
    parts = [dl.unsqueeze(part, axes=list(places.values())) for part in parts]
    for index in reversed(strided):
        runs = [parts[start : start + strides[index]] for start in range(0, len(parts), strides[index])]
        parts = [reduce(partial(dl.concat, axis=places[index]), run) for run in runs]
    return parts[0]


def _merged(joined: ir.Value, sizes: Sequence[int]) -> ir.Value:
    """[batch, channels, positions, phases, ...] as an image of so many elements along its axes."""
    batch, channels, *_ = type_of(joined).shape
    assert isinstance(channels, int)
    if isinstance(batch, int):
        return dl.reshape(joined, shape=[batch, channels, *sizes])
    return dl.reshape(joined, shape=[-1, channels, *sizes], copied=[0, *[-1] * (1 + len(sizes))])


def _sizes(value: ir.Value) -> list[int]:
    return [dim for dim in type_of(value).shape if isinstance(dim, int)]
