"""Importers of Fourier transforms: products with matrices of roots of unity, and of the matrix of mel filters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import merge_axes, split_axis

_MOST_ELEMENTS = 1 << 26
"""Of one matrix of roots: 512 MiB in f64."""


@dataclass(frozen=True)
class _Transform:
    """A transform of `length` points, of which `given` are not zeros; a number is 1 (real) or 2 (complex) elements."""

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
    """One product over the axis and the components of numbers."""
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
        length = int(node.required_constant(1, "dft_length").reshape(-1)[0])
    most = length // 2 + 1 if inverse and onesided else length
    transform = _Transform(length, min(size, most), int(components), inverse, onesided)
    _check_length(node, transform)
    if size > transform.given:
        x = dl.slice(x, None, starts=[0], ends=[transform.given], axes=[axis], steps=[1])
    return _narrow(node, _transformed(node, x, axis, transform))


def _axis(node: NodeContext) -> int:
    if node.opset < 20:
        return int(node.attribute("axis", 1))
    return int(node.required_constant(2, "axis").reshape(-1)[0]) if node.has_input(2) else -2


def _transformed(node: NodeContext, x: ir.Value, axis: int, transform: _Transform) -> ir.Value:
    """The transform along an axis of x, whose last axis is that of components."""
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
    """A convolution: its kernel is the matrix of roots times the window, its stride the distance of frames."""
    signal, components = _wide(node, node.value(0)), node.type(0).shape[-1]
    if node.rank(0) != 3 or components not in (1, 2):
        node.unsupported(f"its signal is {node.type(0)}, but must have rank 3 and 1 or 2 components")
    step = int(node.required_constant(1, "frame_step").reshape(-1)[0])
    length = _frame_length(node)
    transform = _Transform(length, length, int(components), onesided=bool(node.attribute("onesided", 1)))
    _check_length(node, transform)
    dtype = type_of_value(signal).dtype
    roots = np.moveaxis(transform.matrix(), (0, 1), (-1, -2)).reshape(-1, int(components), length)
    weight = node.new_param(np.ascontiguousarray(roots.astype(NUMPY_DTYPES[dtype])), f"{node.node.output[0]}_roots")
    if node.has_input(2):
        weight = dl.mul(weight, _wide(node, node.value(2)))
    found = dl.conv(dl.transpose(signal, perm=[0, 2, 1]), weight, strides=[step])
    return _narrow(node, split_axis(dl.transpose(found, perm=[0, 2, 1]), 2, transform.num_results, 2))


def _frame_length(node: NodeContext) -> int:
    """As given, else the window's; both are one."""
    window = node.type(2).shape[0] if node.has_input(2) else None
    if node.has_input(3):
        length = int(node.required_constant(3, "frame_length").reshape(-1)[0])
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
    elements = transform.given * transform.num_results * 4
    if elements > _MOST_ELEMENTS:
        node.unsupported(
            f"a transform of {transform.length} points needs a matrix of {elements} elements, more than {_MOST_ELEMENTS}"
        )


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
    given = [node.required_constant(index, name).reshape(-1)[0] for index, name in enumerate(names)]
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
