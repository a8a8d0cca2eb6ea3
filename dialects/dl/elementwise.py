"""Elementwise ops: one scalar formula over broadcast operands."""

import numpy as np

from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import NUMERIC, TensorType, broadcast_shapes, require_same_dtype


class Unary(DLOp):
    """Base of ops with one operand and a result of its type."""

    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType, **attributes: object) -> TensorType:
        return x


class Binary(DLOp):
    """Base of ops with two operands of one element type that broadcast as in NumPy."""

    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        dtype = require_same_dtype("c1", lhs=lhs, rhs=rhs)
        return TensorType(broadcast_shapes("c2", lhs.shape, rhs.shape), dtype)


class Relu(Unary, name="relu"):
    """Rectifier. ONNX Relu.

    result = max(x, 0); NaN stays NaN
    """

    accepts = NUMERIC

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, np.zeros((), x.dtype))


class Add(Binary, name="add"):
    """Sum of two tensors; integers wrap. ONNX Add, Sum.

    result = lhs + rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.add(lhs, rhs)
