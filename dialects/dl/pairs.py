"""Products of numbers that are rounded to bf16 and come in pairs."""

import numpy as np

from dlc.dialects.dl.attributes import IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.conv import Conv
from dlc.dialects.dl.dot_products import dot_product_conv_type, dot_product_type
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType, require


class Bf16Pairs(DLOp, name="bf16_pairs"):
    """Rows of a matrix in bf16, two neighbours in an i32. `dl-lower-precision` writes it, for weights.

    result[..., g, c] = bits(bf16(x[..., 2 * g, c])) + 65536 * bits(bf16(x[..., 2 * g + 1, c])), rounded to nearest even

    where a row of zeros follows an odd number of rows.

    c1: x has rank 2 or more.    c2: x is static.
    """

    accepts = ("f32",)
    fusion_class = "injective"
    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        require("c1", x.rank >= 2, f"x has rank {x.rank}")
        rows = x.dim(-2)
        require("c2", x.is_static, f"x is {x}")
        return TensorType((*x.shape[:-2], -(-rows // 2) if isinstance(rows, int) else None, x.dim(-1)), "i32")

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        *outer, rows, columns = x.shape
        with np.errstate(all="ignore"):
            bits = x.astype(NUMPY_DTYPES["bf16"]).view(np.uint16)
        bits = np.concatenate([bits, np.zeros((*outer, rows % 2, columns), np.uint16)], axis=-2)
        groups = bits[..., 0::2, :].astype(np.uint32) | bits[..., 1::2, :].astype(np.uint32) << np.uint32(16)
        return groups.view(np.int32)


class PairMatmul(DLOp, name="pair_matmul"):
    """Matrix product with numbers in bf16 that come two to an i32. `dl-lower-precision` writes it.

    result[..., m, b * C + c] = sum over g, i < 2 of f32(lhs[..., m, 2 * g + i]) * f32(bf16 number i of rhs[b, g, c])

    where rhs is [blocks, K / 2, C] in blocks of C columns, number 0 is in the low bits of an element, and sums are of f32. Where
    both sides are bf16, targets with dot products of bf16 take these, which read a subnormal number as 0. The last block may be
    filled up: the result has the first `columns` columns, or all.

    c1: lhs has rank 2 or more and rhs rank 3.    c2: rhs is static and not empty.    c3: lhs dim -1 is twice rhs dim 1.
    c4: columns reach into the last block.
    """

    fusion_class = "contraction"
    accepts = {"lhs": ("f32", "bf16"), "rhs": ("i32",)}
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    columns = IntAttr(default=0, doc="columns of the result; 0: those of all blocks")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, columns: int) -> TensorType:
        return dot_product_type(lhs, rhs, columns, 2, "f32")

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, columns: int) -> np.ndarray:
        blocks, groups, width = rhs.shape
        whole = np.moveaxis(_numbers(rhs), 0, 1).reshape(2 * groups, blocks * width)[:, : columns or None]
        with np.errstate(all="ignore"):
            return np.matmul(lhs.astype(np.float32), whole)


class PairConv(DLOp, name="pair_conv"):
    """Convolution with channels last and numbers in bf16 that come two to an i32. `dl-lower-precision` writes it.

    result[n, o, b * C + c] = sum over t, g, i < 2 of
        f32(x[n, o * strides + t * dilations - pads_begin, 2 * g + i]) * f32(bf16 number i of weight[b, t, g, c])

    where o and t run over all spatial axes, weight is [blocks, kernel..., channels / 2, C] in blocks of C output channels, and
    sums are of f32, as in `dl.pair_matmul`. x is 0 outside.

    c1: x has rank 3 to 5 and weight one more.    c2: weight is static and not empty.
    c3: the channels of x are twice weight dim -2.
    c4: strides and dilations have one positive value per spatial axis, pads two that are not negative.
    c5: the dilated kernel fits the padded input.
    """

    fusion_class = "contraction"
    accepts = {"x": ("f32", "bf16"), "weight": ("i32",)}
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
        return dot_product_conv_type(x, weight, 2, "f32", strides, pads, dilations)

    @staticmethod
    def reference(
        x: np.ndarray, weight: np.ndarray, *, strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...]
    ) -> np.ndarray:
        kernel, given = _numbers(weight), {"strides": strides, "pads": pads, "dilations": dilations}
        return Conv.reference(x.astype(np.float32), kernel, None, **given, groups=1, channels_last=True)


def _numbers(groups: np.ndarray) -> np.ndarray:
    """The numbers of pairs along axis -2, as f32."""
    bits = groups.view(np.uint32)
    pairs = np.stack([bits << np.uint32(16), bits & np.uint32(0xFFFF0000)], axis=-2).view(np.float32)
    return pairs.reshape(*groups.shape[:-2], 2 * groups.shape[-2], groups.shape[-1])
