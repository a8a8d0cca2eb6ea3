"""Reductions along axes: sums, extrema, their places, and running sums."""

from collections.abc import Callable, Sequence

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.elementwise import Div
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import NUMERIC, TensorType, normalize_axis, require


def reduced_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes that `axes` names, ascending in [0, rank); an empty list names all."""
    return tuple(sorted(axis % rank for axis in axes)) if axes else tuple(range(rank))


class Reduction(DLOp):
    """Base of ops that combine all elements along some axes."""

    fusion_class = "reduction"
    x: Operand[Tensor]
    result: Result[Tensor]
    axes = IntsAttr(default=(), doc="axes to reduce; an empty list means all")
    keepdims = BoolAttr(default=False, doc="keep the reduced axes with size 1")

    @staticmethod
    def infer(x: TensorType, *, axes: tuple[int, ...], keepdims: bool) -> TensorType:
        named = [normalize_axis("c1", axis, x.rank) for axis in axes]
        require("c2", len(set(named)) == len(named), f"axes {list(axes)} name an axis twice")
        gone = reduced_axes(axes, x.rank)
        if keepdims:
            return x.with_shape([1 if axis in gone else dim for axis, dim in enumerate(x.shape)])
        return x.with_shape([dim for axis, dim in enumerate(x.shape) if axis not in gone])


class ReduceSum(Reduction, name="reduce_sum"):
    """Sum; 0 for no elements, and integers wrap. f16 and bf16 accumulate in f32. ONNX ReduceSum.

    result[kept] = sum of x over axes

    c1: each axis is in [-rank, rank).    c2: no axis is named twice.
    """

    accepts = NUMERIC

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.sum(x, axis=reduced_axes(axes, x.ndim), keepdims=keepdims, dtype=x.dtype)


class ReduceMean(Reduction, name="reduce_mean"):
    """Mean; of no elements NaN, and 0 for integers. f16 and bf16 accumulate in f32. ONNX ReduceMean.

    result[kept] = sum of x over axes / number of elements summed; an integer sum wraps and is divided as by `dl.div` in i64

    c1: each axis is in [-rank, rank).    c2: no axis is named twice.
    """

    accepts = NUMERIC

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        gone = reduced_axes(axes, x.ndim)
        count = np.asarray(np.prod([x.shape[axis] for axis in gone], dtype=np.int64))
        total = np.sum(x, axis=gone, keepdims=keepdims, dtype=x.dtype)
        if x.dtype.kind == "f":
            return total / count.astype(x.dtype)
        if not count:
            return total
        return Div.reference(total.astype(np.int64), count).astype(x.dtype)


class ReduceMax(Reduction, name="reduce_max"):
    """Greatest element; NaN wins. -inf, the smallest integer or false for no elements. ONNX ReduceMax.

    result[kept] = max of x over axes

    c1: each axis is in [-rank, rank).    c2: no axis is named twice.
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.max(x, axis=reduced_axes(axes, x.ndim), keepdims=keepdims, initial=lowest(x.dtype))


class ReduceMin(Reduction, name="reduce_min"):
    """Smallest element; NaN wins. inf, the greatest integer or true for no elements. ONNX ReduceMin.

    result[kept] = min of x over axes

    c1: each axis is in [-rank, rank).    c2: no axis is named twice.
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.min(x, axis=reduced_axes(axes, x.ndim), keepdims=keepdims, initial=highest(x.dtype))


class ReduceProd(Reduction, name="reduce_prod"):
    """Product; 1 for no elements, and integers wrap. f16 and bf16 accumulate in f32. ONNX ReduceProd.

    result[kept] = product of x over axes

    c1: each axis is in [-rank, rank).    c2: no axis is named twice.
    """

    accepts = NUMERIC

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.prod(x, axis=reduced_axes(axes, x.ndim), keepdims=keepdims, dtype=x.dtype)


class ArgReduction(DLOp):
    """Base of ops that find the place of an extremum along one axis."""

    fusion_class = "reduction"
    x: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=0, doc="axis to search along")
    keepdims = BoolAttr(default=False, doc="keep the axis with size 1")
    select_last_index = BoolAttr(default=False, doc="the last of equal elements counts, not the first")
    accepts = NUMERIC

    @staticmethod
    def infer(x: TensorType, *, axis: int, keepdims: bool, select_last_index: bool) -> TensorType:
        at = normalize_axis("c1", axis, x.rank)
        require("c2", x.shape[at] != 0, f"axis {axis} has no elements")
        shape = (*x.shape[:at], *((1,) if keepdims else ()), *x.shape[at + 1 :])
        return TensorType(shape, "i64")


class ArgMax(ArgReduction, name="arg_max"):
    """Index of the greatest element along an axis, as i64; NaN is greatest. ONNX ArgMax.

    result[kept] = the first (or last) i with x[i] = max of x along axis; 0 for an axis that has no elements at run time

    c1: axis is in [-rank, rank).    c2: the axis is not known to be empty.
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axis: int, keepdims: bool, select_last_index: bool) -> np.ndarray:
        return _arg_extremum(np.argmax, x, axis, keepdims, select_last_index)


class ArgMin(ArgReduction, name="arg_min"):
    """Index of the smallest element along an axis, as i64; NaN is smallest. ONNX ArgMin.

    result[kept] = the first (or last) i with x[i] = min of x along axis; 0 for an axis that has no elements at run time

    c1: axis is in [-rank, rank).    c2: the axis is not known to be empty.
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axis: int, keepdims: bool, select_last_index: bool) -> np.ndarray:
        return _arg_extremum(np.argmin, x, axis, keepdims, select_last_index)


class Running(DLOp):
    """Base of running reductions along an axis."""

    fusion_class = "opaque"
    accepts = NUMERIC
    x: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(doc="axis to go along")
    exclusive = BoolAttr(default=False, doc="leave the element itself out")
    reverse = BoolAttr(default=False, doc="go from the end")

    @staticmethod
    def infer(x: TensorType, *, axis: int, exclusive: bool, reverse: bool) -> TensorType:
        normalize_axis("c1", axis, x.rank)
        return x


class CumSum(Running, name="cumsum"):
    """Running sum along an axis; integers wrap. f16 and bf16 accumulate in f32. ONNX CumSum.

    result[..., i, ...] = sum of x[..., j, ...] for j <= i; with `exclusive` j < i; with `reverse` j >= i or j > i

    c1: axis is in [-rank, rank).
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
        return _running(np.cumsum, x, 0, axis, exclusive, reverse)


class CumProd(Running, name="cumprod"):
    """Running product along an axis; integers wrap. f16 and bf16 accumulate in f32. ONNX CumProd.

    result[..., i, ...] = product of x[..., j, ...] for j <= i; with `exclusive` j < i; with `reverse` j >= i or j > i

    c1: axis is in [-rank, rank).
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
        return _running(np.cumprod, x, 1, axis, exclusive, reverse)


def _running(
    combine: Callable[..., np.ndarray], x: np.ndarray, start: int, axis: int, exclusive: bool, reverse: bool
) -> np.ndarray:
    """What `combine` gives along an axis; `start` for no elements."""
    ordered = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0)
    found = combine(ordered, axis=0, dtype=x.dtype)
    if exclusive:
        found = np.concatenate([np.full_like(found[:1], start), found[:-1]])
    found = np.moveaxis(found, 0, axis)
    return np.flip(found, axis) if reverse else found


def lowest(dtype: np.dtype) -> float | int | bool:
    """What the maximum of no elements is."""
    return -highest(dtype) if dtype.kind == "f" else False if dtype.kind == "b" else int(np.iinfo(dtype).min)


def highest(dtype: np.dtype) -> float | int | bool:
    """What the minimum of no elements is."""
    return float("inf") if dtype.kind == "f" else True if dtype.kind == "b" else int(np.iinfo(dtype).max)


def _arg_extremum(find: object, x: np.ndarray, axis: int, keepdims: bool, last: bool) -> np.ndarray:
    assert callable(find)
    if not x.shape[axis]:
        return np.zeros(np.sum(x, axis=axis, keepdims=keepdims).shape, np.int64)
    if not last:
        return np.asarray(find(x, axis=axis, keepdims=keepdims))
    return x.shape[axis] - 1 - np.asarray(find(np.flip(x, axis), axis=axis, keepdims=keepdims))
