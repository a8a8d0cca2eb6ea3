"""Index: elements read or written at positions that are values.

Indices count from the end where they are negative; those that are out of range are an error of the call. An axis that is read
through indices must not be empty unless they are.
"""

from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.shape import require_scalar_or_attribute, scalar_or_attribute
from dlc.dialects.dl.types import (
    INDICES,
    MOVABLE,
    NUMERIC,
    Dim,
    TensorType,
    normalize_axis,
    require,
    require_equal_dims,
    require_same_dtype,
)

_REDUCTIONS = ("none", "add", "mul", "max", "min")


class Gather(DLOp, name="gather"):
    """Slices of x along an axis. ONNX Gather.

    result = x with its axis replaced by the axes of indices: result[a.., i.., b..] = x[a.., indices[i..], b..]

    c1: axis is an axis of x.    c2: x is not empty along axis unless indices are empty.
    """

    fusion_class = "injective"
    accepts = {"x": MOVABLE, "indices": INDICES}
    x: Operand[Tensor]
    indices: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=0, doc="axis of x that indices select from; a negative one counts from the end")

    @staticmethod
    def infer(x: TensorType, indices: TensorType, *, axis: int) -> TensorType:
        axis = normalize_axis("c1", axis, x.rank)
        _require_elements("c2", x, [axis], indices)
        return x.with_shape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])

    @staticmethod
    def reference(x: np.ndarray, indices: np.ndarray, *, axis: int) -> np.ndarray:
        return np.take(x, _in_range(indices, x.shape[axis]), axis)


class GatherElements(DLOp, name="gather_elements"):
    """Elements of x, one per index. ONNX GatherElements.

    result[i, j, ...] = x[i, .., indices[i, j, ...], ..], the index standing on axis

    c1: x and indices have one rank, and axis is one of theirs.
    c2: beside axis no dim of indices is greater than x's.    c3: x is not empty along axis unless indices are empty.
    """

    fusion_class = "injective"
    accepts = {"indices": INDICES}
    x: Operand[Tensor]
    indices: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=0, doc="axis of x that indices select from; a negative one counts from the end")

    @staticmethod
    def infer(x: TensorType, indices: TensorType, *, axis: int) -> TensorType:
        axis = _require_index_shape(x, indices, axis)
        _require_elements("c3", x, [axis], indices)
        return x.with_shape(indices.shape)

    @staticmethod
    def reference(x: np.ndarray, indices: np.ndarray, *, axis: int) -> np.ndarray:
        return x[_element_positions(x, indices, axis)]


class GatherNd(DLOp, name="gather_nd"):
    """Slices of x at index tuples. ONNX GatherND.

    result[b.., i.., s..] = x[b.., indices[b.., i.., 0], indices[b.., i.., 1], ..., s..], with batch_dims axes b

    c1: batch_dims is not negative and less than the rank of indices.
    c2: the last dim of indices is static and, with batch_dims, no more than the rank of x.
    c3: the batch dims of x and indices are equal.    c4: x is not empty along indexed axes unless indices are empty.
    """

    fusion_class = "injective"
    accepts = {"indices": INDICES}
    x: Operand[Tensor]
    indices: Operand[Tensor]
    result: Result[Tensor]
    batch_dims = IntAttr(default=0, doc="number of leading axes that x and indices share")

    @staticmethod
    def infer(x: TensorType, indices: TensorType, *, batch_dims: int) -> TensorType:
        fits = 0 <= batch_dims < indices.rank
        require("c1", fits, f"batch_dims is {batch_dims} for indices {indices}")
        count = _tuple_size("c2", x, indices, batch_dims)
        batch: list[Dim] = []
        for axis in range(batch_dims):
            what = f"dim {axis} of"
            batch.append(require_equal_dims("c3", x.shape[axis], indices.shape[axis], f"{what} x", f"{what} indices"))
        _require_elements("c4", x, range(batch_dims, batch_dims + count), indices.with_shape(indices.shape[:-1]))
        return x.with_shape([*batch, *indices.shape[batch_dims:-1], *x.shape[batch_dims + count :]])

    @staticmethod
    def reference(x: np.ndarray, indices: np.ndarray, *, batch_dims: int) -> np.ndarray:
        lead = indices.shape[:-1]
        batch = np.indices(lead)[:batch_dims]
        axes = range(batch_dims, batch_dims + indices.shape[-1])
        taken = [_in_range(indices[..., at], x.shape[axis]) for at, axis in enumerate(axes)]
        position = (*batch, *taken)
        return np.array(x[position] if position else np.broadcast_to(x, (*lead, *x.shape)))


class ReverseSequence(DLOp, name="reverse_sequence"):
    """The first elements of each row in reverse, as many as its length says. ONNX ReverseSequence.

    result[.., n, .., t, ..] = x[.., n, .., lengths[n] - 1 - t, ..] for t < lengths[n], else x[.., n, .., t, ..]

    with n on batch_axis and t on axis. A length that is negative or more than the dim of axis is an error of the call.

    c1: axis and batch_axis are two axes of x.    c2: lengths is [dim of batch_axis].
    """

    fusion_class = "injective"
    accepts = {"lengths": INDICES}
    x: Operand[Tensor]
    lengths: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=0, doc="axis along which elements are reversed; a negative one counts from the end")
    batch_axis = IntAttr(default=1, doc="axis of which each index has its length; a negative one counts from the end")

    @staticmethod
    def infer(x: TensorType, lengths: TensorType, *, axis: int, batch_axis: int) -> TensorType:
        axes = normalize_axis("c1", axis, x.rank), normalize_axis("c1", batch_axis, x.rank, "batch_axis")
        require("c1", axes[0] != axes[1], f"axis and batch_axis are both {axes[0]}")
        require("c2", lengths.rank == 1, f"lengths is {lengths}, no list")
        require_equal_dims("c2", lengths.shape[0], x.shape[axes[1]], "the number of lengths", f"dim {axes[1]} of x")
        return x

    @staticmethod
    def reference(x: np.ndarray, lengths: np.ndarray, *, axis: int, batch_axis: int) -> np.ndarray:
        size = x.shape[axis]
        if ((lengths < 0) | (lengths > size)).any():
            raise IndexError(f"lengths must be from 0 to {size}")
        shown = np.moveaxis(x, (batch_axis, axis), (0, 1))
        at = np.arange(size)[None, :]
        places = np.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)
        return np.moveaxis(shown[np.arange(len(lengths))[:, None], places], (0, 1), (batch_axis, axis))


class ScatterElements(DLOp, name="scatter_elements"):
    """x with elements replaced or combined, one per index. ONNX ScatterElements, Scatter.

    result = x; then, for i, j, ... in row-major order, at p = (i, .., indices[i, j, ...], ..), the index standing on
    axis: result[p] = updates[i, j, ...] (none), or result[p] + * max min updates[i, j, ...]

    c1: x and updates have one element type.    c2: updates and indices have one shape.
    c3: x and indices have one rank, and axis is one of theirs.
    c4: beside axis no dim of indices is greater than x's.    c5: x is not empty along axis unless indices are empty.
    """

    fusion_class = "opaque"
    accepts = {"indices": INDICES}
    x: Operand[Tensor]
    indices: Operand[Tensor]
    updates: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=0, doc="axis of x that indices select from; a negative one counts from the end")
    reduction = StrAttr(default="none", choices=_REDUCTIONS, doc="how an element is combined with its update")

    @staticmethod
    def infer(x: TensorType, indices: TensorType, updates: TensorType, *, axis: int, reduction: str) -> TensorType:
        require_same_dtype("c1", x=x, updates=updates)
        require("c2", updates.rank == indices.rank, f"updates is {updates} but indices {indices}")
        for dim, other in zip(updates.shape, indices.shape, strict=True):
            require_equal_dims("c2", dim, other, "a dim of updates", "that of indices")
        axis = _require_index_shape(x, indices, axis, "c3", "c4")
        _require_elements("c5", x, [axis], indices)
        return x

    @staticmethod
    def reference(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, axis: int, reduction: str) -> np.ndarray:
        return _scattered(x, _element_positions(x, indices, axis), updates, reduction)


class ScatterNd(DLOp, name="scatter_nd"):
    """x with slices replaced or combined at index tuples. ONNX ScatterND.

    result = x; then, for i.. in row-major order, at p = (indices[i.., 0], indices[i.., 1], ...):
    result[p, ...] = updates[i.., ...] (none), or result[p, ...] + * max min updates[i.., ...]

    c1: x and updates have one element type.    c2: the last dim of indices is static and no more than the rank of x.
    c3: updates has the dims of indices without the last, then those of x that are not indexed.
    c4: x is not empty along indexed axes unless indices are empty.
    """

    fusion_class = "opaque"
    accepts = {"indices": INDICES}
    x: Operand[Tensor]
    indices: Operand[Tensor]
    updates: Operand[Tensor]
    result: Result[Tensor]
    reduction = StrAttr(default="none", choices=_REDUCTIONS, doc="how an element is combined with its update")

    @staticmethod
    def infer(x: TensorType, indices: TensorType, updates: TensorType, *, reduction: str) -> TensorType:
        require_same_dtype("c1", x=x, updates=updates)
        count = _tuple_size("c2", x, indices, 0)
        wanted = x.with_shape([*indices.shape[:-1], *x.shape[count:]])
        require("c3", updates.rank == wanted.rank, f"updates is {updates} but must be {wanted}")
        for axis, (dim, other) in enumerate(zip(updates.shape, wanted.shape, strict=True)):
            require_equal_dims("c3", dim, other, f"dim {axis} of updates", "that of indices and x")
        _require_elements("c4", x, range(count), indices.with_shape(indices.shape[:-1]))
        return x

    @staticmethod
    def reference(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, reduction: str) -> np.ndarray:
        count = indices.shape[-1]
        taken = [_in_range(indices[..., axis], x.shape[axis]) for axis in range(count)]
        inner = np.indices(updates.shape)[indices.ndim - 1 :]
        lead = [np.broadcast_to(at.reshape(*at.shape, *[1] * (x.ndim - count)), updates.shape) for at in taken]
        return _scattered(x, (*lead, *inner), updates, reduction)


class UpdateSlice(DLOp, name="update_slice"):
    """x with a window along one axis replaced, at a start that is a value. ONNX TensorScatter: how a KV cache grows in place.

    result = x; then result[b, .., s[b] + i, ..] = update[b, .., i, ..], the index standing on axis, with one start s for all
    or one for each b. A start counts from the end where it is negative, and is moved so that the window lies in x; in a
    circular x the index is (s[b] + i) modulo the size instead.

    c1: x and update have one element type.    c2: axis is an axis of x, and not 0 where there is more than one start.
    c3: update has x's dims, but along axis where it has no more.    c4: starts has rank 1, with one entry or one for each b.
    """

    fusion_class = "opaque"
    accepts = {"x": MOVABLE, "update": MOVABLE, "starts": INDICES}
    x: Operand[Tensor]
    update: Operand[Tensor]
    starts: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=-2, doc="axis of x along which the window lies; a negative one counts from the end")
    circular = BoolAttr(default=False, doc="whether the window goes on at the front where x ends")

    @staticmethod
    def infer(x: TensorType, update: TensorType, starts: TensorType, *, axis: int, circular: bool) -> TensorType:
        require_same_dtype("c1", x=x, update=update)
        axis = normalize_axis("c2", axis, x.rank)
        require("c4", starts.rank == 1, f"starts is {starts} but must have rank 1")
        require("c2", axis != 0 or starts.shape[0] == 1 or not starts.is_static, f"axis is 0 for starts {starts}")
        require("c3", update.rank == x.rank, f"update is {update} but x {x}")
        for at, (dim, other) in enumerate(zip(update.shape, x.shape, strict=True)):
            if at != axis:
                require_equal_dims("c3", dim, other, f"dim {at} of update", "x's")
            elif isinstance(dim, int) and isinstance(other, int):
                require("c3", dim <= other, f"dim {at} of update is {dim} but x's is {other}")
        if starts.shape[0] != 1 and axis != 0:
            require_equal_dims("c4", starts.shape[0], x.shape[0], "the number of starts", "dim 0 of x")
        return x

    @staticmethod
    def reference(x: np.ndarray, update: np.ndarray, starts: np.ndarray, *, axis: int, circular: bool) -> np.ndarray:
        axis, result = axis % x.ndim, np.array(x)
        size, count = x.shape[axis], update.shape[axis]
        for at, start in enumerate(starts.tolist()):
            rows = (slice(at, at + 1),) if len(starts) > 1 else ()
            placed = start if circular else min(max(start + size if start < 0 else start, 0), size - count)
            target = np.moveaxis(result[rows], axis, 0)
            for index, part in enumerate(np.moveaxis(update[rows], axis, 0)):
                target[(placed + index) % size] = part
        return result


class TopK(DLOp, name="top_k"):
    """The k largest or smallest elements along an axis, in order, and where they stand. ONNX TopK.

    values, indices = the first k of x sorted along axis, descending (largest) or ascending; NaN is greater than every
    number, and equal elements keep their order. A k that only run time knows comes in count.

    c1: axis is an axis of x.    c2: k is not negative and no more than x's dim.
    c3: count is a scalar, and is given just where k is not.
    """

    fusion_class = "opaque"
    accepts = {"x": NUMERIC, "count": ("i64",)}
    x: Operand[Tensor]
    count: Optional[Operand[Tensor]]
    values: Result[Tensor]
    indices: Result[Tensor]
    k = IntAttr(default=None, doc="number of elements; absent where it is an operand")
    axis = IntAttr(default=-1, doc="axis to select along; a negative one counts from the end")
    largest = BoolAttr(default=True, doc="take the largest elements, else the smallest")

    @staticmethod
    def infer(
        x: TensorType, count: Optional[TensorType], *, k: Optional[int], axis: int, largest: bool
    ) -> tuple[TensorType, TensorType]:
        axis = normalize_axis("c1", axis, x.rank)
        dim = x.shape[axis]
        fits = k is None or (k >= 0 and (not isinstance(dim, int) or k <= dim))
        require("c2", fits, f"k is {k} but dim {axis} is {dim}")
        require_scalar_or_attribute("c3", count, k, "count", "k")
        shape = [*x.shape[:axis], k, *x.shape[axis + 1 :]]
        return x.with_shape(shape), TensorType(tuple(shape), "i64")

    @staticmethod
    def reference(
        x: np.ndarray, count: Optional[np.ndarray], *, k: Optional[int], axis: int, largest: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        k = scalar_or_attribute(count, k)
        keys = widen(x)
        if largest:  # a stable ascending sort of the reversed axis, read backwards, is a stable descending one
            order = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
        else:
            order = np.argsort(keys, axis, kind="stable")
        indices = np.take(order, np.arange(k), axis)
        return np.take_along_axis(x, indices, axis), indices.astype(np.int64)


def _require_elements(label: str, x: TensorType, axes: "range | list[int]", indices: TensorType) -> None:
    """Require x to have elements along indexed axes where there may be indices."""
    for axis in axes:
        fits = x.shape[axis] != 0 or 0 in indices.shape or not indices.is_static
        require(label, fits, f"indices into axis {axis} of {x}, which is empty")


def _require_index_shape(x: TensorType, indices: TensorType, axis: int, ranks: str = "c1", dims: str = "c2") -> int:
    """The normalized axis, after the checks that GatherElements and ScatterElements share."""
    require(ranks, x.rank == indices.rank, f"x is {x} but indices {indices}")
    axis = normalize_axis(ranks, axis, x.rank)
    for at, (own, other) in enumerate(zip(x.shape, indices.shape, strict=True)):
        if at != axis and isinstance(own, int) and isinstance(other, int):
            require(dims, other <= own, f"dim {at} of indices is {other} but x's is {own}")
    return axis


def _tuple_size(label: str, x: TensorType, indices: TensorType, batch_dims: int) -> int:
    """Number of indices per tuple: the last dim of indices."""
    count = indices.shape[-1] if indices.rank else None
    require(label, isinstance(count, int), f"indices is {indices}, whose last dim is not known")
    assert isinstance(count, int)
    require(label, batch_dims + count <= x.rank, f"{count} indices per tuple for x {x} with {batch_dims} batch dims")
    return count


def _in_range(indices: np.ndarray, size: int) -> np.ndarray:
    """Positions in [0, size) of indices in [-size, size); `IndexError` for any others."""
    positions = indices.astype(np.int64)
    wrong = positions[(positions < -size) | (positions >= size)]
    if wrong.size:
        raise IndexError(f"index {wrong[0]} is out of range for {size} elements")
    return np.where(positions < 0, positions + size, positions)


def _element_positions(x: np.ndarray, indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    positions: list[np.ndarray] = list(np.indices(indices.shape))
    positions[axis] = _in_range(indices, x.shape[axis])
    return tuple(positions)


def _scattered(x: np.ndarray, position: tuple[np.ndarray, ...], updates: np.ndarray, reduction: str) -> np.ndarray:
    combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    result = np.array(x if reduction == "none" else widen(x))
    source = updates if reduction == "none" else widen(updates)
    for at in np.ndindex(updates.shape):
        where = tuple(int(axis[at]) for axis in position)
        with np.errstate(all="ignore"):
            result[where] = source[at] if reduction == "none" else combine[reduction](result[where], source[at])
    return result.astype(x.dtype)
