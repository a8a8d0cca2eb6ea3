"""Generate: values that depend on their position."""

from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.shape import require_scalar_or_attribute, scalar_or_attribute
from dlc.dialects.dl.types import INTS, NUMERIC, TensorType, normalize_axis, require, require_same_dtype


class Range(DLOp, name="range"):
    """Evenly spaced numbers. ONNX Range.

    result[i] = start + i * step, for i < max(ceil((limit - start) / step), 0), counted in f64 for floats; a step of 0
    is an error

    c1: start, limit and step have one element type.    c2: they are scalars.
    """

    fusion_class = "injective"
    accepts = NUMERIC
    start: Operand[Tensor]
    limit: Operand[Tensor]
    step: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(start: TensorType, limit: TensorType, step: TensorType) -> TensorType:
        dtype = require_same_dtype("c1", start=start, limit=limit, step=step)
        for name, operand in (("start", start), ("limit", limit), ("step", step)):
            require("c2", operand.rank == 0, f"{name} is {operand}, not a scalar")
        return TensorType((None,), dtype)

    @staticmethod
    @wide
    def reference(start: np.ndarray, limit: np.ndarray, step: np.ndarray) -> np.ndarray:
        exact = (lambda scalar: float(scalar)) if start.dtype.kind == "f" else (lambda scalar: int(scalar))
        if step == 0:
            raise ZeroDivisionError("the step is 0")
        count = max(int(-((exact(start) - exact(limit)) // exact(step))), 0)
        return (start + np.arange(count).astype(start.dtype) * step).astype(start.dtype)


class Trilu(DLOp, name="trilu"):
    """Upper or lower triangle of matrices. ONNX Trilu.

    result[..., i, j] = x[..., i, j] where j >= i + k (upper) or j <= i + k (lower), else 0

    c1: x has rank 2 or more.
    """

    fusion_class = "injective"
    is_elementwise = True
    x: Operand[Tensor]
    result: Result[Tensor]
    upper = BoolAttr(default=True, doc="keep the upper triangle, else the lower one")
    k = IntAttr(default=0, doc="diagonal at which the triangle starts: 0 the main one, positive ones above it")

    @staticmethod
    def infer(x: TensorType, *, upper: bool, k: int) -> TensorType:
        require("c1", x.rank >= 2, f"x is {x}, no matrix")
        return x

    @staticmethod
    def reference(x: np.ndarray, *, upper: bool, k: int) -> np.ndarray:
        row, column = np.arange(x.shape[-2])[:, None], np.arange(x.shape[-1])
        return np.where(column - row >= k if upper else column - row <= k, x, np.zeros((), x.dtype))


class OneHot(DLOp, name="one_hot"):
    """Indices as vectors with one element switched on. ONNX OneHot.

    result[..., p, ...] = values[1] where p (along axis) is the index, else values[0]; negative indices count from
    depth, indices out of range switch nothing on. A depth that only run time knows comes in size.

    c1: values has two elements.    c2: axis is an axis of the result.    c3: depth is not negative.
    c4: size is a scalar, and is given just where depth is not.
    """

    fusion_class = "injective"
    accepts = {"indices": INTS, "size": ("i64",)}
    indices: Operand[Tensor]
    values: Operand[Tensor]
    size: Optional[Operand[Tensor]]
    result: Result[Tensor]
    depth = IntAttr(default=None, doc="size of the new axis; absent where it is an operand")
    axis = IntAttr(default=-1, doc="the new axis, counted in the result; a negative one counts from its end")

    @staticmethod
    def infer(
        indices: TensorType, values: TensorType, size: Optional[TensorType], *, depth: Optional[int], axis: int
    ) -> TensorType:
        require("c1", values.rank == 1 and (values.shape[0] == 2 or not values.is_static), f"values is {values}, not two elements")
        axis = normalize_axis("c2", axis, indices.rank + 1)
        require("c3", depth is None or depth >= 0, f"depth is {depth}")
        require_scalar_or_attribute("c4", size, depth, "size", "depth")
        return TensorType((*indices.shape[:axis], depth, *indices.shape[axis:]), values.dtype)

    @staticmethod
    def reference(
        indices: np.ndarray, values: np.ndarray, size: Optional[np.ndarray], *, depth: Optional[int], axis: int
    ) -> np.ndarray:
        depth = scalar_or_attribute(size, depth)
        positions = indices.astype(np.int64)
        positions = np.where(positions < 0, positions + depth, positions)
        shape = [1] * (indices.ndim + 1)
        shape[axis] = depth
        on = np.expand_dims(positions, axis) == np.arange(depth).reshape(shape)
        return np.where(on, values[1], values[0]).astype(values.dtype)
