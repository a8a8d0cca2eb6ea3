"""Products of bytes."""

import numpy as np

from dlc.dialects.dl.attributes import IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import TensorType
from dlc.dialects.dl.word_products import word_product_type


class ByteMatmul(DLOp, name="byte_matmul"):
    """Matrix product of unsigned bytes with signed ones that come four to an i32. `dl-use-byte-products` writes it.

    result[..., m, b * C + c] = sum over g, i < 4 of lhs[..., m, 4 * g + i] * s8(byte i of rhs[b, g, c])

    where rhs is [blocks, K / 4, C] in blocks of C columns, the lowest byte of an element is byte 0, and sums are of i32, which
    wrap. The last block may be filled up: the result has the first `columns` columns, or all.

    c1: lhs has rank 2 or more and rhs rank 3.    c2: rhs is static and not empty.    c3: lhs dim -1 is four times rhs dim 1.
    c4: columns reach into the last block.
    """

    fusion_class = "contraction"
    accepts = {"lhs": ("ui8",), "rhs": ("i32",)}
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    columns = IntAttr(default=0, doc="columns of the result; 0: those of all blocks")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, columns: int) -> TensorType:
        return word_product_type(lhs, rhs, columns, 4, "i32")

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, columns: int) -> np.ndarray:
        blocks, groups, width = rhs.shape
        parts = np.stack([(rhs >> (8 * place)).astype(np.int8) for place in range(4)], axis=2)  # [blocks, groups, 4, width]
        whole = parts.transpose(1, 2, 0, 3).reshape(4 * groups, blocks * width)[:, : columns or None]
        return np.matmul(lhs.astype(np.int32), whole.astype(np.int32))
