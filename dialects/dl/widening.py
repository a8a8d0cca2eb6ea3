"""Products of f16 and bf16 whose results stay as wide as their sums, as tensor cores give them."""

import numpy as np

from dlc.dialects.dl.attributes import IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.conv import Conv
from dlc.dialects.dl.linear import Matmul
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.types import TensorType, broadcast_shapes, require, require_equal_dims, require_same_dtype
from dlc.dialects.dl.window import Window

_NARROW = ("f16", "bf16")


class WideningMatmul(DLOp, name="widening_matmul"):
    """Matrix product of f16 or bf16 with a result of f32, as `dl.matmul` else. `dl-lower-precision` writes it.

    result[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]

    c1: lhs and rhs have one element type.    c2: both have rank 2 or more.    c3: lhs dim -1 equals rhs dim -2.
    c4: the outer dims broadcast.
    """

    fusion_class = "contraction"
    accepts = _NARROW
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        require_same_dtype("c1", lhs=lhs, rhs=rhs)
        require("c2", min(lhs.rank, rhs.rank) >= 2, f"lhs has rank {lhs.rank} and rhs rank {rhs.rank}")
        require_equal_dims("c3", lhs.dim(-1), rhs.dim(-2), "lhs dim -1", "rhs dim -2")
        batch = broadcast_shapes("c4", lhs.shape[:-2], rhs.shape[:-2])
        return TensorType((*batch, lhs.dim(-2), rhs.dim(-1)), "f32")

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return Matmul.reference(widen(lhs), widen(rhs))


class WideningConv(DLOp, name="widening_conv"):
    """Convolution of f16 or bf16 with channels last and a result of f32. `dl-lower-precision` writes it.

    result[n, o, f] = sum over t, c of x[n, o * strides + t * dilations - pads_begin, c] * weight[t, c, f]

    where o and t run over all spatial axes, and weight is [kernel..., channels, F]. x is 0 outside.

    c1: x and weight have one element type.    c2: x has rank 3 to 5 and weight the same.    c3: x dim -1 equals weight dim -2.
    c4: strides and dilations have one positive value per spatial axis, pads two that are not negative.
    c5: the dilated kernel fits the padded input.
    """

    fusion_class = "contraction"
    accepts = _NARROW
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    strides = IntsAttr(default=(), doc="step per spatial axis; empty: 1")
    pads = IntsAttr(default=(), doc="zeros before each spatial axis, then those after each; empty: none")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")

    @staticmethod
    def infer(
        x: TensorType, weight: TensorType, *, strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...]
    ) -> TensorType:
        require_same_dtype("c1", x=x, weight=weight)
        require("c2", 3 <= x.rank <= 5 and weight.rank == x.rank, f"x has rank {x.rank} and weight rank {weight.rank}")
        require_equal_dims("c3", x.dim(-1), weight.dim(-2), "x dim -1", "weight dim -2")
        window = Window.of("c4", weight.shape[:-2], strides, pads, dilations)
        positions = window.output_dims("c5", x.shape[1:-1], 1)
        return TensorType((x.dim(0), *positions, weight.dim(-1)), "f32")

    @staticmethod
    def reference(
        x: np.ndarray, weight: np.ndarray, *, strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...]
    ) -> np.ndarray:
        window = {"strides": strides, "pads": pads, "dilations": dilations}
        return Conv.reference(widen(x), widen(weight), None, **window, groups=1, channels_last=True)
