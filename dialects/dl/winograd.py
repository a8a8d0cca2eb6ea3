"""Convolutions by Winograd's tiles."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import Dim, TensorType, require, require_equal_dims, require_same_dtype
from dlc.dialects.dl.window import Window
from dlc.dialects.dl.winograd_matrices import BY_STRIDE, TAPS, Matrices

_TILES = {(len(matrices.kernels), stride): matrices for stride, known in BY_STRIDE.items() for matrices in known.values()}


class WinogradConv(DLOp, name="winograd_conv"):
    """Convolution by 3x3 taps and stride 1 or 2 with a transformed kernel, by Winograd's tiles. `dl-use-winograd` writes it.

    Channels are last: x is [batch, height, width, C], and result[n, i, j, b * K + k] the convolution by a kernel w[3, 3, C, out]
    of which the operand weight [k squared, out / K, C, K] is

    weight[p, b, c, k] = sum over s, t of G[row of p, s] * G[column of p, t] * w[s, t, c, b * K + k]

    A tile of m by m results takes 16 products for each pair of channels instead of 36 where m is 2, 36 instead of 144 where m is
    4, and 25 instead of 36 with stride 2, where m is 2: weight dim 0 is 16 or 36, with stride 2 it is 16. Kernels are row by row;
    G and the transforms of inputs and outputs are in `winograd_matrices.py`.

    c1: operands have one element type.    c2: x has rank 4 and weight too.
    c3: stride is 1 and weight dim 0 is 16 or 36, or stride is 2 and weight dim 0 is 16.
    c4: the channels of x are weight dim 2.    c5: bias is [out].    c6: pads has four values that are not negative.
    c7: height and width of x are known where stride is 2, and the padded input has three of each at least.
    """

    fusion_class = "contraction"
    accepts = ("f64", "f32")
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    bias: Optional[Operand[Tensor]] = None
    pads = IntsAttr(default=(), doc="zeros before each spatial axis, then those after each; empty: none")
    stride = IntAttr(default=1, doc="inputs from one result to the next, along both axes")

    @staticmethod
    def infer(x: TensorType, weight: TensorType, bias: Optional[TensorType], *, pads: tuple[int, ...], stride: int) -> TensorType:
        given = {"x": x, "weight": weight} | ({"bias": bias} if bias is not None else {})
        dtype = require_same_dtype("c1", **given)
        require("c2", x.rank == 4 and weight.rank == 4, f"x has rank {x.rank} and weight rank {weight.rank}")
        known = [kernels for kernels, of in _TILES if of == stride]
        require("c3", bool(known), f"stride is {stride}, not 1 or 2")
        require("c3", weight.dim(0) in known, f"weight dim 0 is {weight.dim(0)}, not {' or '.join(map(str, known))}")
        require_equal_dims("c4", x.dim(3), weight.dim(2), "x dim 3", "weight dim 2")
        channels = output_channels(weight)
        if bias is not None:
            require("c5", bias.rank == 1, f"bias has rank {bias.rank} but must have 1")
            require_equal_dims("c5", bias.dim(0), channels, "bias dim 0", "the number of output channels")
        return _result_type(x, channels, dtype, pads, matrices_of(weight.dim(0), stride), ("c6", "c7"))

    @staticmethod
    def reference(
        x: np.ndarray, weight: np.ndarray, bias: Optional[np.ndarray], *, pads: tuple[int, ...], stride: int
    ) -> np.ndarray:
        found = _convolved(x, weight, pads, matrices_of(weight.shape[0], stride))
        return np.ascontiguousarray(found if bias is None else found + bias)


class PairWinogradConv(DLOp, name="pair_winograd_conv"):
    """Convolution of i16 by 3x3 taps and stride 1 by Winograd's tiles of 2 by 2 results, exact. `dl-use-byte-products` writes it.

    As `dl.winograd_conv`, with a kernel that is four times as large, so that it is whole, and results a quarter of the sums:

    number i of weight[p, b, g, k] = 4 * sum over s, t of G[row of p, s] * G[column of p, t] * w[s, t, 2 * g + i, b * K + k]

    where weight is [16, out / K, C / 2, K] and its numbers are of i16, which come two to an i32, the first in the low bits.
    Transformed inputs are of i16, sums of i32; all wrap, so that results are exact where transformed inputs and four times the
    results are within their types.

    c1: x has rank 4 and weight too.    c2: weight is static and not empty, its dim 0 is 16.
    c3: the channels of x are twice weight dim 2.    c4: pads has four values that are not negative.
    c5: height and width of x are known, and the padded input has three of each at least.
    """

    fusion_class = "contraction"
    accepts = {"x": ("i16",), "weight": ("i32",)}
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    pads = IntsAttr(default=(), doc="zeros before each spatial axis, then those after each; empty: none")

    @staticmethod
    def infer(x: TensorType, weight: TensorType, *, pads: tuple[int, ...]) -> TensorType:
        require("c1", x.rank == 4 and weight.rank == 4, f"x has rank {x.rank} and weight rank {weight.rank}")
        positions, *sizes = (dim if isinstance(dim, int) else 0 for dim in weight.shape)
        require("c2", positions == _PAIR_POSITIONS and min(sizes) > 0, f"weight is {weight}")
        require("c3", x.dim(3) == 2 * sizes[1], f"x is {x} and weight {weight}")
        return _result_type(x, output_channels(weight), "i32", pads, matrices_of(positions), ("c4", "c5"))

    @staticmethod
    def reference(x: np.ndarray, weight: np.ndarray, *, pads: tuple[int, ...]) -> np.ndarray:
        halves = np.stack([weight.astype(np.int16), (weight >> 16).astype(np.int16)], axis=3).astype(np.int32)
        positions, blocks, groups, _, width = halves.shape
        kernels = halves.reshape(positions, blocks, 2 * groups, width)
        return np.ascontiguousarray(_convolved(x, kernels, pads, matrices_of(positions)) >> 2)


_PAIR_POSITIONS = 16


def window_of(pads: Sequence[int], matrices: Matrices, label: str = "") -> Window:
    """The window that tiles of `matrices` move over an image, of pads that are checked against the constraint `label`."""
    return Window.of(label, (TAPS, TAPS), (matrices.stride,) * 2, pads, ())


def _result_type(
    x: TensorType, channels: Dim, dtype: str, pads: tuple[int, ...], matrices: Matrices, labels: tuple[str, str]
) -> TensorType:
    """The type of results, of the constraints `labels` on pads and on sizes."""
    window = window_of(pads, matrices, labels[0])
    for axis in (1, 2) if matrices.stride > 1 or dtype == "i32" else ():
        require(labels[1], isinstance(x.dim(axis), int), f"x dim {axis} must be known")
    return TensorType((x.dim(0), *window.output_dims(labels[1], x.shape[1:3], 1), channels), dtype)


def _convolved(x: np.ndarray, weight: np.ndarray, pads: tuple[int, ...], matrices: Matrices) -> np.ndarray:
    """The results of all tiles, cut to those of the image, of the weights' type; transforms of inputs are of the type of `x`."""
    window = window_of(pads, matrices)
    height, width = (int(dim or 0) for dim in window.output_dims("", x.shape[1:3], 1))
    step, size = matrices.step, matrices.inputs
    rows, columns = -(-height // matrices.outputs), -(-width // matrices.outputs)
    over = ((rows - 1) * step + size - x.shape[1], (columns - 1) * step + size - x.shape[2])
    low = window.pads_begin
    high = [max(extra - begin, 0) for extra, begin in zip(over, low, strict=True)]
    padded = np.pad(x, [(0, 0), (low[0], high[0]), (low[1], high[1]), (0, 0)])
    tiles = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))[:, ::step, ::step][:, :rows, :columns]
    transform, back = matrices.input.astype(x.dtype), matrices.output.astype(weight.dtype)
    inputs = np.einsum("is,jt,nyxcst->nyxijc", transform, transform, tiles, optimize=True).astype(weight.dtype)
    channels, count = weight.shape[1] * weight.shape[3], matrices.products
    kernels = np.moveaxis(weight, 1, 2).reshape(-1, weight.shape[2], channels)
    products = np.empty((count, count, x.shape[0], rows, columns, channels), kernels.dtype)
    for row, column in np.ndindex(count, count):
        place = matrices.kernel_of[row] * len(matrices.kernel) + matrices.kernel_of[column]
        products[row, column] = np.matmul(inputs[..., row, column, :], kernels[place])
    found = np.einsum("ai,bj,ijnyxo->nyaxbo", back, back, products, optimize=True)
    return found.reshape(x.shape[0], rows * len(back), columns * len(back), channels)[:, :height, :width]


def matrices_of(kernels: Dim, stride: int = 1) -> Matrices:
    """The matrices of so many kernels, 16 or 36, and this stride."""
    assert isinstance(kernels, int)
    return _TILES[kernels, stride]


def output_channels(weight: TensorType) -> Dim:
    """Output channels of a kernel in blocks, None where they are not known."""
    blocks, block = weight.dim(1), weight.dim(3)
    return blocks * block if isinstance(blocks, int) and isinstance(block, int) else None
