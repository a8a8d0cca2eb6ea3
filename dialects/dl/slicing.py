"""Slicing: tensors joined, cut into parts and padded."""

from typing import Literal, Optional

import numpy as np

from dlc.dialects.dl.attributes import IntAttr, IntsAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.shape import normalize_axes, require_length
from dlc.dialects.dl.types import (
    MOVABLE,
    Dim,
    TensorType,
    normalize_axis,
    require,
    require_equal_dims,
    require_same_dtype,
    type_of_array,
)


class Concat(DLOp, name="concat"):
    """Two tensors joined along an axis; more are joined by a chain of these. ONNX Concat.

    result = lhs, then rhs, along axis

    c1: lhs and rhs have one element type.    c2: they have one rank, and axis is one of theirs.
    c3: their dims beside axis are equal.
    """

    fusion_class = "injective"
    accepts = MOVABLE
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(doc="axis along which the tensors are joined; a negative one counts from the end")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, axis: int) -> TensorType:
        require_same_dtype("c1", lhs=lhs, rhs=rhs)
        require("c2", lhs.rank == rhs.rank, f"lhs is {lhs} but rhs {rhs}")
        axis = normalize_axis("c2", axis, lhs.rank)
        dims: list[Dim] = []
        for at, (left, right) in enumerate(zip(lhs.shape, rhs.shape, strict=True)):
            if at == axis:
                dims.append(_sum(left, right))
            else:
                dims.append(require_equal_dims("c3", left, right, f"dim {at} of lhs", f"dim {at} of rhs"))
        return lhs.with_shape(dims)

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, axis: int) -> np.ndarray:
        return np.concatenate([lhs, rhs], axis)


class Slice(DLOp, name="slice"):
    """Every step-th element of a range along some axes. ONNX Slice.

    result = x[starts[i] : ends[i] : steps[i]] along axes[i], for every i, with Python's rules for negative and
    out-of-range values; an end below -dim of a negative step includes element 0. Starts or ends that only run time
    knows come in bounds, starts first.

    c1: axes are distinct axes of x.    c2: starts and ends, each, have one entry per axis, or none where bounds has them.
    c3: steps have one entry per axis, none 0.    c4: bounds has one element per axis for each of starts and ends that
    has none, and is given just then.
    """

    fusion_class = "injective"
    accepts = {"x": MOVABLE, "bounds": ("i64",)}
    x: Operand[Tensor]
    bounds: Optional[Operand[Tensor]]
    result: Result[Tensor]
    starts = IntsAttr(default=(), doc="first element along each of axes; empty where bounds has them")
    ends = IntsAttr(default=(), doc="element after the last along each of axes; empty where bounds has them")
    axes = IntsAttr(doc="axes that are sliced; negative ones count from the end")
    steps = IntsAttr(doc="distance between elements along each of axes; may be negative")

    @staticmethod
    def infer(
        x: TensorType,
        bounds: Optional[TensorType],
        *,
        starts: tuple[int, ...],
        ends: tuple[int, ...],
        axes: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> TensorType:
        found = normalize_axes("c1", axes, x.rank)
        missing = 0
        for name, given in (("starts", starts), ("ends", ends)):
            missing += not given and bool(axes)
            fits = len(given) == len(axes) or (bounds is not None and not given)
            require("c2", fits, f"{name} {list(given)} have {len(given)} entries for {len(axes)} axes")
        require("c3", len(steps) == len(axes) and 0 not in steps, f"steps {list(steps)} for {len(axes)} axes")
        require("c4", bounds is None or missing > 0, f"bounds is {bounds} but starts and ends are attributes")
        require_length("c4", bounds, missing * len(axes), "bounds", "start and end that is no attribute")
        dims = list(x.shape)
        for index, axis in enumerate(found):
            known = bool(starts) and bool(ends)
            dims[axis] = sliced_dim(dims[axis], starts[index], ends[index], steps[index]) if known else None
        return x.with_shape(dims)

    @staticmethod
    def reference(
        x: np.ndarray,
        bounds: Optional[np.ndarray],
        *,
        starts: tuple[int, ...],
        ends: tuple[int, ...],
        axes: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> np.ndarray:
        given = [] if bounds is None else bounds.tolist()
        first = starts or given[: len(axes)]
        after = ends or given[-len(axes) :]
        for axis, start, end, step in zip(axes, first, after, steps, strict=True):
            taken = np.arange(*slice(start, end, step).indices(x.shape[axis]))
            x = np.take(x, taken, axis)
        return x


class Pad(DLOp, name="pad"):
    """x with elements added before and after along each axis; negative counts crop. ONNX Pad.

    result = x, cropped where low or high is negative, with elements i < low and i >= low + n of an axis of size n added:
    constant: value (0 where absent); edge: the nearest element; reflect: mirrored at the first and last element, which
    are not repeated; wrap: x repeated. In a mode other than constant an axis of size 0 stays 0.

    c1: low and high have one entry per axis.    c2: value is a scalar of x's element type, and mode is constant.
    c3: no axis is cropped by more than its size.
    """

    fusion_class = "injective"
    accepts = MOVABLE
    x: Operand[Tensor]
    value: Optional[Operand[Tensor]]
    result: Result[Tensor]
    low = IntsAttr(doc="number of elements before the first, per axis")
    high = IntsAttr(doc="number of elements after the last, per axis")
    mode = StrAttr(default="constant", choices=("constant", "edge", "reflect", "wrap"), doc="what is added")

    @staticmethod
    def infer(x: TensorType, value: Optional[TensorType], *, low: tuple[int, ...], high: tuple[int, ...], mode: str) -> TensorType:
        fits = len(low) == len(high) == x.rank
        require("c1", fits, f"low {list(low)} and high {list(high)} do not have {x.rank} entries")
        scalar = value is None or (value.rank == 0 and value.dtype == x.dtype and mode == "constant")
        require("c2", scalar, f"value is {value} in mode {mode} for x {x}")
        dims = []
        for axis, (dim, before, after) in enumerate(zip(x.shape, low, high, strict=True)):
            crop = -min(before, 0) - min(after, 0)
            require("c3", not isinstance(dim, int) or crop <= dim, f"axis {axis} of size {dim} is cropped by {crop}")
            dims.append(_padded(dim, before, after, crop, mode))
        return x.with_shape(dims)

    @staticmethod
    def reference(
        x: np.ndarray, value: Optional[np.ndarray], *, low: tuple[int, ...], high: tuple[int, ...], mode: str
    ) -> np.ndarray:
        window = [slice(max(-a, 0), dim - max(-b, 0)) for a, b, dim in zip(low, high, x.shape, strict=True)]
        x = x[tuple(window)]
        pads = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
        if mode == "constant":
            fill = np.zeros((), x.dtype) if value is None else value
            result = np.full([a + dim + b for (a, b), dim in zip(pads, x.shape, strict=True)], fill, x.dtype)
            result[tuple(slice(a, a + dim) for (a, _), dim in zip(pads, x.shape, strict=True))] = x
            return result
        widths = [(0, 0) if dim == 0 else pad for pad, dim in zip(pads, x.shape, strict=True)]
        return np.pad(x, widths, _PAD_MODES[mode])


class DynamicPad(DLOp, name="dynamic_pad"):
    """`dl.pad` by counts that only run time knows. ONNX Pad.

    result = pad(x, value, low, high) with low the first half of counts and high the other; an axis that is cropped by more
    than its size is an error

    c1: counts has two elements per axis.    c2: value is a scalar of x's element type, and mode is constant.
    """

    fusion_class = "opaque"
    accepts = {"x": MOVABLE, "counts": ("i64",), "value": MOVABLE}
    x: Operand[Tensor]
    counts: Operand[Tensor]
    value: Optional[Operand[Tensor]]
    result: Result[Tensor]
    mode = StrAttr(default="constant", choices=("constant", "edge", "reflect", "wrap"), doc="what is added")

    @staticmethod
    def infer(x: TensorType, counts: TensorType, value: Optional[TensorType], *, mode: str) -> TensorType:
        require_length("c1", counts, 2 * x.rank, "counts", "side of each axis")
        scalar = value is None or (value.rank == 0 and value.dtype == x.dtype and mode == "constant")
        require("c2", scalar, f"value is {value} in mode {mode} for x {x}")
        return x.with_shape([None] * x.rank)

    @staticmethod
    def reference(x: np.ndarray, counts: np.ndarray, value: Optional[np.ndarray], *, mode: str) -> np.ndarray:
        sides = tuple(counts.tolist())
        low, high = sides[: x.ndim], sides[x.ndim :]
        Pad.infer(type_of_array(x), None if value is None else type_of_array(value), low=low, high=high, mode=mode)
        found: np.ndarray = Pad.reference(x, value, low=low, high=high, mode=mode)
        return found


def sliced_dim(dim: Dim, start: int, end: int, step: int) -> Dim:
    """Size of `x[start:end:step]` along a dim."""
    if isinstance(dim, int):
        return len(range(*slice(start, end, step).indices(dim)))
    whole = (start == 0 and end >= _FAR and step == 1) or (step == -1 and end <= -_FAR and (start == -1 or start >= _FAR))
    return dim if whole else None


_PAD_MODES: "dict[str, Literal['edge', 'reflect', 'wrap']]" = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}
_FAR = 2**31 - 1
"""Ends from here on stand for the end of any axis."""


def _padded(dim: Dim, before: int, after: int, crop: int, mode: str) -> Dim:
    if before == after == 0:
        return dim
    if not isinstance(dim, int):
        return None
    return 0 if mode != "constant" and dim == crop else dim + before + after


def _sum(left: Dim, right: Dim) -> Dim:
    if left == 0 or right == 0:
        return right if left == 0 else left
    return left + right if isinstance(left, int) and isinstance(right, int) else None
