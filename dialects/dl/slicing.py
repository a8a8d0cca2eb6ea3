"""Slicing: tensors joined, cut into parts and padded."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import IntAttr, IntsAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.shape import normalize_axes, require_length
from dlc.dialects.dl.types import Dim, TensorType, normalize_axis, require, require_equal_dims


class Concat(DLOp, name="concat"):
    """Tensors joined along an axis. ONNX Concat.

    result = inputs one after another along axis

    c1: there is an input.    c2: inputs have one element type.    c3: inputs have one rank, and axis is one of theirs.
    c4: their dims beside axis are equal.
    """

    inputs: Sequence[Operand[Tensor]]
    result: Result[Tensor]
    axis = IntAttr(doc="axis along which inputs are joined; a negative one counts from the end")

    @staticmethod
    def infer(inputs: tuple[TensorType, ...], *, axis: int) -> TensorType:
        require("c1", bool(inputs), "there is no input")
        dtypes = [kind.dtype for kind in inputs]
        require("c2", len(set(dtypes)) == 1, f"inputs are {', '.join(dtypes)}")
        ranks = [kind.rank for kind in inputs]
        require("c3", len(set(ranks)) == 1, f"inputs have ranks {', '.join(map(str, ranks))}")
        axis = normalize_axis("c3", axis, ranks[0])
        dims = list(inputs[0].shape)
        for number, kind in enumerate(inputs[1:], 1):
            for other, dim in enumerate(kind.shape):
                if other != axis:
                    what = f"dim {other} of input"
                    dims[other] = require_equal_dims("c4", dims[other], dim, f"{what} 0", f"{what} {number}")
        dims[axis] = _sum([kind.shape[axis] for kind in inputs])
        return inputs[0].with_shape(dims)

    @staticmethod
    def reference(inputs: list[np.ndarray], *, axis: int) -> np.ndarray:
        return np.concatenate(inputs, axis)


class Split(DLOp, name="split"):
    """x cut into parts along an axis. ONNX Split.

    part p = x[sum(sizes[:p]) : sum(sizes[:p + 1])] along axis; one size may be -1: what is left over

    c1: axis is an axis of x.    c2: sizes are not negative but for one -1.    c3: sizes add up to x's dim.
    """

    x: Operand[Tensor]
    parts: Sequence[Result[Tensor]]
    axis = IntAttr(doc="axis that is cut; a negative one counts from the end")
    sizes = IntsAttr(doc="size of each part")

    @staticmethod
    def infer(x: TensorType, *, axis: int, sizes: tuple[int, ...]) -> tuple[TensorType, ...]:
        axis = normalize_axis("c1", axis, x.rank)
        fits = all(size >= -1 for size in sizes) and sizes.count(-1) <= 1
        require("c2", fits, f"sizes {list(sizes)} hold more than one entry below 0")
        total = x.shape[axis]
        known = sum(size for size in sizes if size >= 0)
        if isinstance(total, int):
            exact = known <= total if -1 in sizes else known == total
            require("c3", exact, f"sizes {list(sizes)} do not add up to dim {axis}, which is {total}")
        rest = total - known if isinstance(total, int) else total if known == 0 else None
        return tuple(_with_dim(x, axis, size if size >= 0 else rest) for size in sizes)

    @staticmethod
    def reference(x: np.ndarray, *, axis: int, sizes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        rest = x.shape[axis] - sum(size for size in sizes if size >= 0)
        ends = np.cumsum([size if size >= 0 else rest for size in sizes])
        return tuple(np.array(part) for part in np.split(x, ends, axis)[:-1])


class Slice(DLOp, name="slice"):
    """Every step-th element of a range along some axes. ONNX Slice.

    result = x[starts[i] : ends[i] : steps[i]] along axes[i], for every i, with Python's rules for negative and
    out-of-range values; an end below -dim of a negative step includes element 0. Bounds known at run time come as
    operands.

    c1: axes are distinct axes of x.    c2: starts and ends, each, have one entry per axis, or come as an operand.
    c3: steps have one entry per axis, none 0.    c4: start_values and end_values have one element per axis.
    """

    accepts = {"start_values": ("i64",), "end_values": ("i64",)}
    x: Operand[Tensor]
    start_values: Optional[Operand[Tensor]]
    end_values: Optional[Operand[Tensor]]
    result: Result[Tensor]
    starts = IntsAttr(default=(), doc="first element along each of axes; empty where start_values is given")
    ends = IntsAttr(default=(), doc="element after the last along each of axes; empty where end_values is given")
    axes = IntsAttr(doc="axes that are sliced; negative ones count from the end")
    steps = IntsAttr(doc="distance between elements along each of axes; may be negative")

    @staticmethod
    def infer(
        x: TensorType,
        start_values: Optional[TensorType],
        end_values: Optional[TensorType],
        *,
        starts: tuple[int, ...],
        ends: tuple[int, ...],
        axes: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> TensorType:
        found = normalize_axes("c1", axes, x.rank)
        for name, operand, given in (("start", start_values, starts), ("end", end_values, ends)):
            wanted = 0 if operand is not None else len(axes)
            require("c2", len(given) == wanted, f"{name}s {list(given)} have {len(given)} entries, not {wanted}")
            require_length("c4", operand, len(axes), f"{name}_values", "axis")
        fits = len(steps) == len(axes) and 0 not in steps
        require("c3", fits, f"steps {list(steps)} are no {len(axes)} entries other than 0")
        dims = list(x.shape)
        for index, axis in enumerate(found):
            known = bool(starts) and bool(ends)
            dims[axis] = sliced_dim(dims[axis], starts[index], ends[index], steps[index]) if known else None
        return x.with_shape(dims)

    @staticmethod
    def reference(
        x: np.ndarray,
        start_values: Optional[np.ndarray],
        end_values: Optional[np.ndarray],
        *,
        starts: tuple[int, ...],
        ends: tuple[int, ...],
        axes: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> np.ndarray:
        first = starts if start_values is None else start_values.tolist()
        after = ends if end_values is None else end_values.tolist()
        for axis, start, end, step in zip(axes, first, after, steps, strict=True):
            taken = np.arange(*slice(start, end, step).indices(x.shape[axis]))
            x = np.take(x, taken, axis)
        return x


class Pad(DLOp, name="pad"):
    """x with elements added before and after along each axis; negative counts crop. ONNX Pad.

    crop x where low or high is negative; then element i of an axis of size n is, for i < low or i >= low + n:
    constant: value (0 where absent); edge: the nearest element; reflect: mirrored at the first and last element, which
    are not repeated; wrap: x repeated. In a mode other than constant an axis of size 0 stays 0.

    c1: low and high have one entry per axis.    c2: value is a scalar of x's element type, and mode is constant.
    c3: no axis is cropped by more than its size.
    """

    x: Operand[Tensor]
    value: Optional[Operand[Tensor]]
    result: Result[Tensor]
    low = IntsAttr(doc="number of elements before the first, per axis")
    high = IntsAttr(doc="number of elements after the last, per axis")
    mode = StrAttr(default="constant", choices=("constant", "edge", "reflect", "wrap"), doc="what is added")

    @staticmethod
    def infer(
        x: TensorType, value: Optional[TensorType], *, low: tuple[int, ...], high: tuple[int, ...], mode: str
    ) -> TensorType:
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
        return np.pad(x, [(0, 0) if dim == 0 else pad for pad, dim in zip(pads, x.shape, strict=True)], mode)


def sliced_dim(dim: Dim, start: int, end: int, step: int) -> Dim:
    """Size of `x[start:end:step]` along a dim."""
    if isinstance(dim, int):
        return len(range(*slice(start, end, step).indices(dim)))
    whole = (start == 0 and end >= _FAR and step == 1) or (
        step == -1 and end <= -_FAR and (start == -1 or start >= _FAR)
    )
    return dim if whole else None


_FAR = 2**31 - 1
"""Ends from here on stand for the end of any axis."""


def _padded(dim: Dim, before: int, after: int, crop: int, mode: str) -> Dim:
    if before == after == 0:
        return dim
    if not isinstance(dim, int):
        return None
    return 0 if mode != "constant" and dim == crop else dim + before + after


def _sum(dims: Sequence[Dim]) -> Dim:
    """Sum of dims; a symbol stays where all others are 0."""
    named = [dim for dim in dims if not isinstance(dim, int)]
    total = sum(dim for dim in dims if isinstance(dim, int))
    if not named:
        return total
    return named[0] if len(named) == 1 and total == 0 else None


def _with_dim(x: TensorType, axis: int, dim: Dim) -> TensorType:
    return x.with_shape([*x.shape[:axis], dim, *x.shape[axis + 1 :]])
