"""Products of bytes, and of bytes that were widened to i16."""

import numpy as np

from dlc.dialects.dl.attributes import IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.conv import Conv
from dlc.dialects.dl.dot_products import dot_product_conv_type, dot_product_type
from dlc.dialects.dl.types import TensorType

_NUMBERS = {"ui8": 4, "i16": 2}
"""How many numbers of the right-hand side come in an i32, by the type of the left-hand side."""


class ByteMatmul(DLOp, name="byte_matmul"):
    """Matrix product of unsigned bytes with signed ones that come four to an i32. `dl-use-byte-products` writes it.

    result[..., m, b * C + c] = sum over g, i < 4 of lhs[..., m, 4 * g + i] * s8(byte i of rhs[b, g, c])

    where rhs is [blocks, K / 4, C] in blocks of C columns, the lowest byte of an element is byte 0, and sums are of i32, which
    wrap. The last block may be filled up: the result has the first `columns` columns, or all. Where lhs is of i16, so are the
    numbers of rhs, which come two to an element.

    c1: lhs has rank 2 or more and rhs rank 3.    c2: rhs is static and not empty.
    c3: lhs dim -1 is four times rhs dim 1, twice that of i16.    c4: columns reach into the last block.
    """

    fusion_class = "contraction"
    accepts = {"lhs": tuple(_NUMBERS), "rhs": ("i32",)}
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    columns = IntAttr(default=0, doc="columns of the result; 0: those of all blocks")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, columns: int) -> TensorType:
        return dot_product_type(lhs, rhs, columns, _NUMBERS[lhs.dtype], "i32")

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, columns: int) -> np.ndarray:
        whole = np.moveaxis(_numbers(rhs, lhs.dtype), 0, 1).reshape(lhs.shape[-1], -1)[:, : columns or None]
        return np.matmul(lhs.astype(np.int32), whole)


class ByteConv(DLOp, name="byte_conv"):
    """Convolution of unsigned bytes, channels last, with signed ones that come four to an i32. `dl-use-byte-products` writes it.

    result[n, o, b * C + c] = sum over t, g, i < 4 of
        x[n, o * strides + t * dilations, 4 * g + i] * s8(byte i of weight[b, t, g, c])

    where o and t run over all spatial axes, weight is [blocks, kernel..., channels / 4, C] in blocks of C output channels, and sums
    are of i32, which wrap. Where x is of i16, so are the numbers of weight, which come two to an element.

    c1: x has rank 3 to 5 and weight one more.    c2: weight is static and not empty.
    c3: the channels of x are four times weight dim -2, twice that of i16.
    c4: strides and dilations have one positive value per spatial axis.    c5: the dilated kernel fits the input.
    """

    fusion_class = "contraction"
    accepts = {"x": tuple(_NUMBERS), "weight": ("i32",)}
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    strides = IntsAttr(default=(), doc="step per spatial axis; empty: 1")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")

    @staticmethod
    def infer(x: TensorType, weight: TensorType, *, strides: tuple[int, ...], dilations: tuple[int, ...]) -> TensorType:
        return dot_product_conv_type(x, weight, _NUMBERS[x.dtype], "i32", strides, (), dilations)

    @staticmethod
    def reference(x: np.ndarray, weight: np.ndarray, *, strides: tuple[int, ...], dilations: tuple[int, ...]) -> np.ndarray:
        given = {"strides": strides, "pads": (), "dilations": dilations}
        return Conv.reference(x.astype(np.int32), _numbers(weight, x.dtype), None, **given, groups=1, channels_last=True)


def _numbers(groups: np.ndarray, other: np.dtype) -> np.ndarray:
    """The signed numbers of groups along axis -2, as i32: bytes, or numbers of i16 where `other`, what they meet, is that."""
    part, count = (np.int16, 2) if other == np.int16 else (np.int8, 4)
    parts = np.stack([(groups >> (32 // count * place)).astype(part) for place in range(count)], axis=-2)
    return parts.reshape(*groups.shape[:-2], count * groups.shape[-2], groups.shape[-1]).astype(np.int32)
