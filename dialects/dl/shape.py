"""Shape: the same elements under another shape or order, repeated elements, and sizes as values."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import MOVABLE, Dim, TensorType, broadcast_shapes, normalize_axis, require


class Reshape(DLOp, name="reshape"):
    """The elements of x, row-major, in another shape. ONNX Reshape, Flatten.

    result[...] = x[...] in row-major order. Dim i of the result is shape[i] where that is not -1; else dim copied[i] of
    x where that is not -1; else sizes[i] where sizes is given and sizes[i] is not -1; else what is left over. With
    zero_copies, sizes[i] = 0 means dim i of x.

    c1: entries of shape are sizes or -1; without sizes at most one dim is left over.
    c2: x and the result have as many elements.    c3: sizes has one element per dim of the result.
    c4: copied is empty or has an axis of x, or -1, per dim of the result, and shape is -1 where it has an axis.
    """

    fusion_class = "view"
    accepts = {"x": MOVABLE, "sizes": ("i64",)}
    x: Operand[Tensor]
    sizes: Optional[Operand[Tensor]]
    result: Result[Tensor]
    shape = IntsAttr(doc="dims of the result; -1 where the other rules give the dim")
    copied = IntsAttr(default=(), doc="axis of x whose dim a dim of the result is, or -1; empty where there is none")
    zero_copies = BoolAttr(default=False, doc="0 in sizes stands for the dim of x on the same axis")

    @staticmethod
    def infer(
        x: TensorType,
        sizes: Optional[TensorType],
        *,
        shape: tuple[int, ...],
        copied: tuple[int, ...],
        zero_copies: bool,
    ) -> TensorType:
        copied = _checked_copies(x, shape, copied)
        require("c1", all(dim >= -1 for dim in shape), f"shape {list(shape)} has an entry below -1")
        require_length("c3", sizes, len(shape), "sizes", "dim of the result")
        dims: list[Dim] = [dim if dim >= 0 else None for dim in shape]
        for index, axis in enumerate(copied):
            if axis >= 0:
                dims[index] = x.shape[axis]
        if sizes is not None:
            return x.with_shape(dims)
        rest = [index for index, dim in enumerate(shape) if dim < 0 and copied[index] < 0]
        require("c1", len(rest) <= 1, f"shape {list(shape)} leaves {len(rest)} dims open, of which sizes gives none")
        pairs = enumerate(zip(dims, copied, strict=True))
        known = [(dim, axis) for index, (dim, axis) in pairs if index not in rest]
        left = left_over(x.shape, known)
        require("c2", bool(rest) or _as_many(x.shape, known), f"{x} has other elements than {x.with_shape(dims)}")
        for index in rest:
            dims[index] = left
        return x.with_shape(dims)

    @staticmethod
    def reference(
        x: np.ndarray,
        sizes: Optional[np.ndarray],
        *,
        shape: tuple[int, ...],
        copied: tuple[int, ...],
        zero_copies: bool,
    ) -> np.ndarray:
        given = list(shape) if sizes is None else sizes.tolist()
        dims = [own if dim < 0 else dim for dim, own in zip(shape, given, strict=True)]
        if sizes is not None and zero_copies:
            dims = [x.shape[i] if dim == 0 and shape[i] < 0 else dim for i, dim in enumerate(dims)]
        for index, axis in enumerate(copied):
            if axis >= 0:
                dims[index] = x.shape[axis]
        known = [(dim, axis) for dim, axis in zip(dims, copied or (-1,) * len(dims), strict=True) if dim >= 0]
        left = left_over(x.shape, known) if -1 in dims else 0
        assert isinstance(left, int)
        return x.reshape([left if dim < 0 else dim for dim in dims])


class Transpose(DLOp, name="transpose"):
    """Axes in another order. ONNX Transpose.

    result[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...]

    c1: perm holds every axis of x once.
    """

    fusion_class = "injective"
    accepts = MOVABLE
    x: Operand[Tensor]
    result: Result[Tensor]
    perm = IntsAttr(doc="axis of x that becomes each axis of the result")

    @staticmethod
    def infer(x: TensorType, *, perm: tuple[int, ...]) -> TensorType:
        require("c1", sorted(perm) == list(range(x.rank)), f"perm {list(perm)} is no order of {x.rank} axes")
        return x.with_shape([x.shape[axis] for axis in perm])

    @staticmethod
    def reference(x: np.ndarray, *, perm: tuple[int, ...]) -> np.ndarray:
        return np.transpose(x, perm)


class Expand(DLOp, name="expand"):
    """x repeated along axes of size 1 and new leading axes. ONNX Expand.

    result = x broadcast, as in NumPy, with a tensor of dims shape[i], or sizes[i] where shape[i] is -1

    c1: x and shape broadcast.    c2: entries of shape are sizes, or -1 where sizes is given.
    c3: sizes has one element per entry of shape.
    """

    fusion_class = "broadcast"
    is_elementwise = True
    accepts = {"x": MOVABLE, "sizes": ("i64",)}
    x: Operand[Tensor]
    sizes: Optional[Operand[Tensor]]
    result: Result[Tensor]
    shape = IntsAttr(doc="dims to broadcast with, aligned at the last; 1 keeps x's dim, -1 reads sizes")

    @staticmethod
    def infer(x: TensorType, sizes: Optional[TensorType], *, shape: tuple[int, ...]) -> TensorType:
        lowest = 0 if sizes is None else -1
        require("c2", all(dim >= lowest for dim in shape), f"shape {list(shape)} has an entry below {lowest}")
        require_length("c3", sizes, len(shape), "sizes", "entry of shape")
        dims: list[Dim] = [dim if dim >= 0 else None for dim in shape]
        return x.with_shape(broadcast_shapes("c1", x.shape, tuple(dims)))

    @staticmethod
    def reference(x: np.ndarray, sizes: Optional[np.ndarray], *, shape: tuple[int, ...]) -> np.ndarray:
        dims = [int(sizes[i]) if dim < 0 and sizes is not None else dim for i, dim in enumerate(shape)]
        return np.array(np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(dims))))


class Squeeze(DLOp, name="squeeze"):
    """x without some axes of size 1. ONNX Squeeze.

    result = x.reshape(dims of x that are not in axes)

    c1: axes are distinct axes of x.    c2: their size is 1.
    """

    fusion_class = "view"
    accepts = MOVABLE
    x: Operand[Tensor]
    result: Result[Tensor]
    axes = IntsAttr(doc="axes to drop; negative ones count from the end")

    @staticmethod
    def infer(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
        dropped = normalize_axes("c1", axes, x.rank)
        for axis in dropped:
            require("c2", not isinstance(x.shape[axis], int) or x.shape[axis] == 1, f"dim {axis} is {x.shape[axis]}")
        return x.with_shape([dim for axis, dim in enumerate(x.shape) if axis not in dropped])

    @staticmethod
    def reference(x: np.ndarray, *, axes: tuple[int, ...]) -> np.ndarray:
        return np.squeeze(x, axes)


class Unsqueeze(DLOp, name="unsqueeze"):
    """x with new axes of size 1. ONNX Unsqueeze.

    result = x.reshape(dims of x with 1 inserted at axes)

    c1: axes are distinct axes of the result.
    """

    fusion_class = "view"
    accepts = MOVABLE
    x: Operand[Tensor]
    result: Result[Tensor]
    axes = IntsAttr(doc="axes of the result that are new; negative ones count from the result's end")

    @staticmethod
    def infer(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
        rank = x.rank + len(axes)
        added = normalize_axes("c1", axes, rank)
        kept = iter(x.shape)
        return x.with_shape([1 if axis in added else next(kept) for axis in range(rank)])

    @staticmethod
    def reference(x: np.ndarray, *, axes: tuple[int, ...]) -> np.ndarray:
        return np.expand_dims(x, axes)


class Tile(DLOp, name="tile"):
    """x repeated as a whole along each axis. ONNX Tile.

    result[i_0, i_1, ...] = x[i_0 mod dim 0, i_1 mod dim 1, ...], of dims repeats * dims of x

    c1: there is one repeat per axis.    c2: no repeat is negative.
    """

    fusion_class = "broadcast"
    accepts = MOVABLE
    x: Operand[Tensor]
    result: Result[Tensor]
    repeats = IntsAttr(doc="how often x stands along each axis")

    @staticmethod
    def infer(x: TensorType, *, repeats: tuple[int, ...]) -> TensorType:
        require("c1", len(repeats) == x.rank, f"{len(repeats)} repeats for rank {x.rank}")
        require("c2", all(count >= 0 for count in repeats), f"repeats {list(repeats)} has a negative entry")
        return x.with_shape([_times(dim, count) for dim, count in zip(x.shape, repeats, strict=True)])

    @staticmethod
    def reference(x: np.ndarray, *, repeats: tuple[int, ...]) -> np.ndarray:
        return np.tile(x, repeats)


class ShapeOf(DLOp, name="shape_of"):
    """Dims of x as values. ONNX Shape.

    result = x.shape[start:end], as i64; start and end clamp as slices do, an absent end is the rank
    """

    fusion_class = "view"
    x: Operand[Tensor]
    result: Result[Tensor]
    start = IntAttr(default=0, doc="first axis; a negative one counts from the end")
    end = IntAttr(default=None, doc="axis after the last; a negative one counts from the end")

    @staticmethod
    def infer(x: TensorType, *, start: int, end: Optional[int]) -> TensorType:
        return TensorType((len(x.shape[start:end]),), "i64")

    @staticmethod
    def reference(x: np.ndarray, *, start: int, end: Optional[int]) -> np.ndarray:
        return np.array(x.shape[start:end], np.int64)


class Size(DLOp, name="size"):
    """Number of elements of x as a value. ONNX Size.

    result = product of the dims of x, as i64
    """

    fusion_class = "view"
    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return TensorType((), "i64")

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        return np.array(x.size, np.int64)


def require_length(label: str, operand: Optional[TensorType], length: int, what: str, per: str) -> None:
    """Require an operand, where it is given, to be a list of `length` values, one per `per`."""
    if operand is None:
        return
    fits = operand.rank == 1 and (not isinstance(operand.shape[0], int) or operand.shape[0] == length)
    require(label, fits, f"{what} is {operand} but needs one element per {per}, {length}")


def require_scalar_or_attribute(label: str, operand: Optional[TensorType], attribute: Optional[int], what: str, name: str) -> None:
    """Require either the operand `what`, a scalar, or the attribute `name`."""
    require(label, operand is None or operand.rank == 0, f"{what} is {operand}, not a scalar")
    require(
        label, (operand is None) != (attribute is None), f"{what} is {operand} and {name} is {attribute}; one of them is needed"
    )


def scalar_or_attribute(operand: Optional[np.ndarray], attribute: Optional[int]) -> int:
    """The number that an operand or else an attribute gives; ValueError where it is negative."""
    number = int(operand) if operand is not None else int(attribute or 0)
    if number < 0:
        raise ValueError(f"a size is {number}")
    return number


def normalize_axes(label: str, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Distinct axes in [0, rank), in the order given."""
    found = tuple(normalize_axis(label, axis, rank) for axis in axes)
    require(label, len(set(found)) == len(found), f"axes {list(axes)} hold one axis twice")
    return found


def left_over(dims: Sequence[Dim], known: Sequence[tuple[Dim, int]]) -> Dim:
    """The dim that is missing beside `known` ones for as many elements as `dims` have, None where it can't be told.

    A known dim stands with the axis of `dims` that it copies, or -1. `ConstraintError` where no dim fits.
    """
    above, below = cancelled(dims, known)
    top, bottom = _static_product(above), _static_product(below)
    if not all(isinstance(dim, int) for dim in below):
        return None
    open_dims = [dim for dim in above if not isinstance(dim, int)]
    if open_dims:
        return open_dims[0] if len(open_dims) == 1 and top == bottom else None
    require("c2", bottom != 0 or top == 0, f"{top} elements do not fill a shape with a dim 0")
    require("c2", bottom == 0 or top % bottom == 0, f"{top} elements are no multiple of {bottom}")
    return top // bottom if bottom else 0


def cancelled(dims: Sequence[Dim], known: Sequence[tuple[Dim, int]]) -> tuple[list[Dim], list[Dim]]:
    """`dims` and the dims of `known` (each with the axis of `dims` it copies, or -1) without what stands in both."""
    above: list[Dim] = list(dims)
    below: list[Dim] = []
    copies: set[int] = set()
    for dim, axis in known:
        if axis >= 0 and axis not in copies:
            copies.add(axis)
        else:
            below.append(dim)
    above = [dim for axis, dim in enumerate(dims) if axis not in copies]
    for dim in list(below):
        if isinstance(dim, str) and dim in above:
            above.remove(dim)
            below.remove(dim)
    return above, below


def _checked_copies(x: TensorType, shape: tuple[int, ...], copied: tuple[int, ...]) -> tuple[int, ...]:
    """`copied` with an entry per dim of the result, after the check of c4."""
    if not copied:
        return (-1,) * len(shape)
    require("c4", len(copied) == len(shape), f"copied {list(copied)} has {len(copied)} entries for {len(shape)} dims")
    for axis, dim in zip(copied, shape, strict=True):
        require("c4", -1 <= axis < x.rank, f"copied {list(copied)} holds {axis}, which is no axis of {x}")
        require("c4", axis < 0 or dim == -1, f"shape has {dim} where copied has axis {axis}")
    return copied


def _as_many(dims: Sequence[Dim], known: Sequence[tuple[Dim, int]]) -> bool:
    """False where dims that are all known have another product than `known` ones."""
    above, below = cancelled(dims, known)
    static = all(isinstance(dim, int) for dim in (*above, *below))
    return not static or _static_product(above) == _static_product(below)


def _static_product(dims: Sequence[Dim]) -> int:
    count = 1
    for dim in dims:
        count *= dim if isinstance(dim, int) else 1
    return count


def _times(dim: Dim, count: int) -> Dim:
    if count == 1:
        return dim
    if count == 0:
        return 0
    return dim * count if isinstance(dim, int) else None
