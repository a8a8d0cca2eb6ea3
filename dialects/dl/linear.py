"""Matrix products."""

import numpy as np

from dlc.dialects.dl.attributes import IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import (
    FLOATS,
    NUMERIC,
    TensorType,
    broadcast_shapes,
    require,
    require_equal_dims,
    require_same_dtype,
)

_SMALL = 1024
_ONE_THREAD = 1 << 17
"""OpenBLAS computes products of fewer steps than twice this on one thread."""


def _product_by_columns(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """np.matmul of a small matrix, by columns: threads gain nothing, and wait for each other in loops.

    For the 32 products of a kernel of 512x512x3x3 by Winograd's 16x9 that is 20 ms of one processor instead of 250 of two.
    """
    found = np.empty((*rhs.shape[:-2], len(lhs), rhs.shape[-1]), np.result_type(lhs, rhs))
    step = max(1, _ONE_THREAD // max(1, lhs.size))
    for begin in range(0, rhs.shape[-1], step):
        np.matmul(lhs, rhs[..., begin : begin + step], out=found[..., begin : begin + step])
    return found


class Matmul(DLOp, name="matmul"):
    """Matrix product over the two innermost dims; outer dims broadcast. ONNX MatMul, Gemm.

    result[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]

    f16 and bf16 accumulate in f32; integers wrap.

    c1: lhs and rhs have one element type.    c2: both have rank 2 or more.    c3: lhs dim -1 equals rhs dim -2.
    c4: the outer dims broadcast.
    """

    fusion_class = "contraction"
    accepts = NUMERIC
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        dtype = require_same_dtype("c1", lhs=lhs, rhs=rhs)
        require("c2", min(lhs.rank, rhs.rank) >= 2, f"lhs has rank {lhs.rank} and rhs rank {rhs.rank}")
        require_equal_dims("c3", lhs.dim(-1), rhs.dim(-2), "lhs dim -1", "rhs dim -2")
        batch = broadcast_shapes("c4", lhs.shape[:-2], rhs.shape[:-2])
        return TensorType((*batch, lhs.dim(-2), rhs.dim(-1)), dtype)

    @staticmethod
    @wide
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return _product_by_columns(lhs, rhs) if lhs.ndim == 2 and lhs.size <= _SMALL else np.matmul(lhs, rhs)


class Det(DLOp, name="det"):
    """Determinants of square matrices. ONNX Det.

    result[..] = determinant of x[.., :, :], by elimination with the largest pivot of each column; that of 0 rows is 1

    f16 and bf16 compute in f32.

    c1: x has rank 2 or more.    c2: its two innermost dims are equal.
    """

    fusion_class = "opaque"
    accepts = FLOATS
    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        require("c1", x.rank >= 2, f"x has rank {x.rank} but must have 2 or more")
        require_equal_dims("c2", x.shape[-2], x.shape[-1], "the number of rows", "that of columns")
        return x.with_shape(x.shape[:-2])

    @staticmethod
    @wide
    def reference(x: np.ndarray) -> np.ndarray:
        return np.linalg.det(x)


class PackedMatmul(DLOp, name="packed_matmul"):
    """Matrix product with a matrix in blocks of columns. `dl-pack-weights` writes it.

    result[..., m, b * C + c] = sum over k of lhs[..., m, k] * rhs[b, k, c], where rhs is [blocks, K, C]

    What is read of a block lies together, where rows of a large matrix lie far apart. The last block may be filled up: the
    result has the first `columns` columns, or all. f16 and bf16 accumulate in f32; integers wrap.

    c1: lhs and rhs have one element type.    c2: lhs has rank 2 or more and rhs rank 3.    c3: lhs dim -1 equals rhs dim 1.
    c4: columns reach into the last block, where the blocks are static.
    """

    fusion_class = "contraction"
    accepts = NUMERIC
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    columns = IntAttr(default=0, doc="columns of the result; 0: those of all blocks")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, columns: int) -> TensorType:
        dtype = require_same_dtype("c1", lhs=lhs, rhs=rhs)
        require("c2", lhs.rank >= 2 and rhs.rank == 3, f"lhs has rank {lhs.rank} and rhs rank {rhs.rank}")
        require_equal_dims("c3", lhs.dim(-1), rhs.dim(1), "lhs dim -1", "rhs dim 1")
        blocks, width = rhs.dim(0), rhs.dim(2)
        total = None
        if isinstance(blocks, int) and isinstance(width, int):
            total = blocks * width
            require("c4", columns == 0 or total - width < columns <= total, f"columns is {columns} but rhs is {rhs}")
        require("c4", columns >= 0, f"columns is {columns}")
        return TensorType((*lhs.shape[:-1], columns or total), dtype)

    @staticmethod
    @wide
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, columns: int) -> np.ndarray:
        whole = np.moveaxis(rhs, 0, 1).reshape(rhs.shape[1], rhs.shape[0] * rhs.shape[2])
        return np.matmul(lhs, whole[:, : columns or None])
