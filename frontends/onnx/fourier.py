"""Importers of Fourier transforms, and of the matrix of mel filters."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.fft_plan import is_smooth
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.fast_fourier import FastFourier, mirrored, with_zeros
from dlc.frontends.onnx.fourier_planes import PlaneLayout
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import merge_axes, split_axis

_MOST_DENSE = 96
"""The longest transform of a length with a large prime factor that is a product with a matrix; longer ones take a chirp."""
_MOST_POINTS = 1 << 24
"""Of one transform: its factors are 128 MiB in f32."""
_MOST_SLICES = 16
"""Of one frame that is put together from slices of the signal; frames of more are gathered."""


@dataclass(frozen=True)
class _Transform:
    """A transform of `length` points, from `given` numbers of 1 (real) or 2 (complex) elements."""

    length: int
    given: int
    components: int
    inverse: bool = False
    onesided: bool = False

    @property
    def gives_reals(self) -> bool:
        """Whether the result is a real signal."""
        return self.inverse and self.onesided

    @property
    def num_results(self) -> int:
        """How many numbers the transform gives."""
        return self.length // 2 + 1 if self.onesided and not self.inverse else self.length

    @property
    def read(self) -> int:
        """How many numbers make up the transform; those that are not given are zeros."""
        return self.length // 2 + 1 if self.gives_reals else self.length

    def matrix(self) -> np.ndarray:
        """[given, components, results, their components]: how much of each element is in each result."""
        turns = np.outer(np.arange(self.given), np.arange(self.num_results)) % self.length
        angles = turns * (2 * np.pi / self.length) * (1 if self.inverse else -1)
        real, imaginary = np.cos(angles), np.sin(angles)
        rows = [np.stack([real, imaginary], -1), np.stack([-imaginary, real], -1)][: self.components]
        found = np.stack(rows, 1)
        if not self.inverse:
            return found
        weights = np.full(self.given, 1 / self.length)
        if self.gives_reals:  # a frequency stands for its negative twin, too
            weights[1 : (self.length + 1) // 2] *= 2
            found = found[..., :1]
        return found * weights[:, None, None, None]


@importer("DFT")
def import_dft(node: NodeContext) -> ir.Value:
    """Axis, length and the number of components must be known."""
    x, kind = _wide(node, node.value(0)), node.type(0)
    axis = _axis(node)
    if not -kind.rank <= axis < kind.rank or axis % kind.rank == kind.rank - 1:
        node.unsupported(f"axis {axis} is no axis of numbers of an input of rank {kind.rank}")
    axis %= kind.rank
    size, components = kind.shape[axis], kind.shape[-1]
    if not isinstance(size, int) or not isinstance(components, int):
        node.unknown(
            0, f"its input is {kind}, but the size of axis {axis} and of the last must be known at compile time", of_dims=True
        )
    if components not in (1, 2):
        node.unsupported(f"its input is {kind}, but the last axis must hold 1 or 2 components")
    inverse, onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    length = 2 * (size - 1) if inverse and onesided else size
    if node.has_input(1):
        length = int(node.constant_scalar(1, "dft_length"))
    transform = _Transform(length, size, int(components), inverse, onesided)
    transform = replace(transform, given=min(size, transform.read))
    _check_length(node, transform)
    if size > transform.given:
        x = dl.slice(x, starts=[0], ends=[transform.given], axes=[axis], steps=[1])
    return _narrow(node, _transformed(node, x, axis, transform))


def _axis(node: NodeContext) -> int:
    if node.opset < 20:
        return int(node.attribute("axis", 1))
    return int(node.constant_scalar(2, "axis")) if node.has_input(2) else -2


def _transformed(node: NodeContext, x: ir.Value, axis: int, transform: _Transform) -> ir.Value:
    """The transform along an axis of x, whose last axis is that of components."""
    if not is_smooth(transform.length) and transform.length <= _MOST_DENSE:
        return _multiplied(node, x, axis, transform)
    layout = PlaneLayout.of(type_of_value(x), axis, transform.length)
    numbers = layout.to_planes(x)
    missing = transform.read - transform.given
    if missing > 0:
        numbers = dl.pad(numbers, low=[0] * 4, high=[0, 0, missing, 0], mode="constant")
    return layout.from_planes(_fast(FastFourier(node, type_of_value(x).dtype), numbers, transform), x)


def _fast(fourier: FastFourier, x: ir.Value, transform: _Transform) -> ir.Value:
    """The transform of planes."""
    length = transform.length
    if transform.components == 1 and not transform.inverse:
        found = fourier.of_reals(x, length)
        return found if transform.onesided else mirrored(found, length)
    numbers = x if transform.components == 2 else with_zeros(x)
    if transform.gives_reals:
        return fourier.to_reals(numbers, length)
    found = fourier.of_numbers(numbers, length, transform.inverse)
    if transform.num_results == length:
        return found
    return dl.slice(found, starts=[0], ends=[transform.num_results], axes=[2], steps=[1])


def _multiplied(node: NodeContext, x: ir.Value, axis: int, transform: _Transform) -> ir.Value:
    """One product over the axis and the components of numbers."""
    kind = type_of_value(x)
    last = kind.rank - 1
    order = [*(at for at in range(last) if at != axis), axis, last]
    table = transform.matrix().reshape(transform.given * transform.components, -1).astype(NUMPY_DTYPES[kind.dtype])
    rows = merge_axes(dl.transpose(x, perm=order), last - 1)
    if kind.rank == 2:
        rows = dl.unsqueeze(rows, axes=[0])
    found = dl.matmul(rows, node.new_param(table, f"{node.node.output[0]}_roots"))
    if kind.rank == 2:
        found = dl.squeeze(found, axes=[0])
    numbers = split_axis(found, last - 1, transform.num_results, 1 if transform.gives_reals else 2)
    return dl.transpose(numbers, perm=[order.index(at) for at in range(kind.rank)])


@importer("STFT")
def import_stft(node: NodeContext) -> ir.Value:
    """Transforms of the frames of a signal, each times the window."""
    signal, components = _wide(node, node.value(0)), node.type(0).shape[-1]
    if node.rank(0) != 3 or components not in (1, 2):
        node.unsupported(f"its signal is {node.type(0)}, but must have rank 3 and 1 or 2 components")
    step = int(node.constant_scalar(1, "frame_step"))
    if step < 1:
        node.unsupported(f"frame_step is {step}, but must be 1 or more")
    length = _frame_length(node)
    transform = _Transform(length, length, int(components), onesided=bool(node.attribute("onesided", 1)))
    _check_length(node, transform)
    frames = _frames(node, signal, length, step)
    if node.has_input(2):
        frames = dl.mul(frames, dl.unsqueeze(_wide(node, node.value(2)), axes=[1]))
    return _narrow(node, _transformed(node, frames, 2, transform))


def _frames(node: NodeContext, signal: ir.Value, length: int, step: int) -> ir.Value:
    """[batch, frames, length, components]: numbers f * step to f * step + length of the signal for each frame f."""
    size = type_of_value(signal).shape[1]
    index = dl.constant(value=np.arange(length))
    if not isinstance(size, int):
        count = dl.reshape(dl.slice(dl.shape_of(signal), starts=[1], ends=[2], axes=[0], steps=[1]), shape=[])
        zero, shorter, distance = (node.constant_value(number, "i64") for number in (0, length - 1, step))
        starts = dl.range(zero, dl.sub(count, shorter), distance)
        return dl.gather(signal, dl.add(dl.unsqueeze(starts, axes=[1]), index), axis=1)
    count = max((size - length) // step + 1, 0)
    share = math.gcd(length, step)
    if length // share > _MOST_SLICES or count == 0:
        return dl.gather(signal, dl.add(dl.constant(value=np.arange(count)[:, None] * step), index), axis=1)
    used = dl.slice(signal, starts=[0], ends=[(size // share) * share], axes=[1], steps=[1])
    pieces, every = split_axis(used, 1, size // share, share), step // share
    parts = [
        dl.slice(pieces, starts=[first], ends=[first + (count - 1) * every + 1], axes=[1], steps=[every])
        for first in range(length // share)
    ]
    return functools.reduce(lambda left, right: dl.concat(left, right, axis=2), parts)


def _frame_length(node: NodeContext) -> int:
    """As given, else the window's; both are one."""
    window = node.type(2).shape[0] if node.has_input(2) else None
    if node.has_input(3):
        length = int(node.constant_scalar(3, "frame_length"))
        if window not in (None, length):
            node.unsupported(f"the window has {window} elements but frames have {length}")
        return length
    size = window if node.has_input(2) else node.type(0).shape[1]
    if not isinstance(size, int):
        index = 2 if node.has_input(2) else 0
        node.unknown(index, f"frame_length (input 3, or a dim of input {index}) must be known at compile time", of_dims=True)
    return size


def _check_length(node: NodeContext, transform: _Transform) -> None:
    if transform.length < 1 or transform.given < 1:
        node.unsupported(f"a transform of {transform.length} points, {transform.given} of them given, is empty")
    if transform.length > _MOST_POINTS:
        node.unsupported(f"a transform of {transform.length} points is too long; {_MOST_POINTS} is the most")


def _wide(node: NodeContext, x: ir.Value) -> ir.Value:
    """f16 and bf16 as f32, so that roots of unity are not rounded to them."""
    dtype = type_of_value(x).dtype
    if dtype not in FLOATS:
        node.unsupported(f"transforms of {dtype} are not supported; cast its input to f32")
    return dl.cast(x, to="f32") if dtype in ("f16", "bf16") else x


def _narrow(node: NodeContext, found: ir.Value) -> ir.Value:
    dtype = node.type(0).dtype
    return found if type_of_value(found).dtype == dtype else dl.cast(found, to=dtype)


@importer("MelWeightMatrix")
def import_mel_weight_matrix(node: NodeContext) -> np.ndarray:
    """Known at import: triangles between places that lie evenly on the mel scale."""
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    given = [node.constant_scalar(index, name) for index, name in enumerate(names)]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(node.attribute("output_datatype", onnx.TensorProto.FLOAT))
    if dtype not in NUMPY_DTYPES.values():
        node.unsupported(f"element type {dtype} is not supported")
    num_bins, length, rate = (int(number) for number in given[:3])
    edges = [2595 * np.log1p(float(hertz) / 700) / np.log(10) for hertz in given[3:]]
    mels = edges[0] + np.arange(num_bins + 2) * ((edges[1] - edges[0]) / (num_bins + 2))
    places = ((length + 1) * (700 * np.expm1(mels / 2595 * np.log(10))) // rate).astype(np.int64)
    left, center, right = places[:-2], places[1:-1], places[2:]
    at = np.arange(length // 2 + 1)[:, None]
    rising = np.where((at >= left) & (at <= center), (at - left) / np.maximum(center - left, 1), 0.0)
    falling = np.where((at >= center) & (at < right), (right - at) / np.maximum(right - center, 1), 0.0)
    peak = np.where((at == center) & (center == left), 1.0, 0.0)
    return np.where((at >= center) & (right > center), falling, np.maximum(rising, peak)).astype(dtype)
