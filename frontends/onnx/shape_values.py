"""What the importers of shape ops share: lists of sizes that are known at import or at run time, and their reshapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import tensor_type
from dlc.frontends.onnx.importers import Imported
from dlc.frontends.onnx.node import NodeContext

_MOST_LISTED = 4096
"""Entries of a list of sizes that run time knows; no rank, and no number of parts, is as large."""

MOST_FILLED = 1 << 24
"""Elements of one value that are made at import; what is larger is better filled by the model."""


def ints(array: np.ndarray) -> list[int]:
    """Elements of a list, or of a scalar, as Python ints."""
    return [int(item) for item in np.asarray(array).reshape(-1)]


def list_length(node: NodeContext, index: int, what: str) -> int:
    """Length of a list that is an input; it must be known though its elements are not."""
    kind = node.type(index)
    if kind.rank != 1 or not isinstance(kind.shape[0], int):
        node.unknown(index, f"{what} must be known at compile time, but input {index} is {kind}")
    if kind.shape[0] > _MOST_LISTED:
        node.unsupported(f"{what} would be {kind.shape[0]}, but may be {_MOST_LISTED} at most")
    return int(kind.shape[0])


def list_value(node: NodeContext, index: int) -> ir.Value:
    """An input as a list of i64."""
    value = node.value(index)
    return value if node.type(index).dtype == "i64" else dl.cast(value, to="i64")


def scalar_value(node: NodeContext, index: int, dtype: str = "i64") -> ir.Value:
    """An input that holds one element as a scalar of `dtype`."""
    value, kind = node.value(index), node.type(index)
    if kind.rank > 1 or (kind.rank == 1 and kind.shape[0] not in (1, None)):
        node.unsupported(f"input {index} is {kind}, which is not one number")
    value = value if kind.rank == 0 else dl.reshape(value, shape=[])
    return value if kind.dtype == dtype else dl.cast(value, to=dtype)


def on_all_axes(node: NodeContext, index: int, values: ir.Value, default: ir.Value) -> ir.Value:
    """A list with an entry for each axis of input 0: that of `values` where input `index` lists the axis, else of `default`."""
    found: ir.Value = dl.scatter_elements(default, list_value(node, index), values, axis=0)
    return found


def attribute_or_input(node: NodeContext, name: str, index: int) -> list[int] | None:
    """Numbers that older opsets give as an attribute and newer ones as an input known at import; None where absent."""
    given = node.attribute(name)
    if given is not None:
        return ints(np.asarray(given))
    return ints(node.required_constant(index, name)) if node.has_input(index) else None


def filled_like(node: NodeContext, index: int, scalar: np.ndarray) -> Imported:
    """A tensor of an input's shape with one value."""
    kind = node.type(index)
    dims = [dim for dim in kind.shape if isinstance(dim, int)]
    if kind.is_static and math.prod(dims) <= MOST_FILLED:
        return np.full(dims, scalar, scalar.dtype)
    if kind.is_static:
        return dl.expand(dl.constant(value=scalar), None, shape=dims)
    return dl.expand(dl.constant(value=scalar), dl.shape_of(node.value(index)), shape=[-1] * kind.rank)


def merge_axes(x: ir.Value, first: int, count: int = 2) -> ir.Value:
    """`count` neighbouring axes as one; the other dims stay what they are, at run time too."""
    shape = _dims(x)
    copied = [*range(first), -1, *range(first + count, len(shape))]
    merged = shape[first : first + count]
    size = int(np.prod(merged, dtype=np.int64)) if -1 not in merged else -1
    return _reshaped(x, [*shape[:first], size, *shape[first + count :]], copied)


def split_axis(x: ir.Value, axis: int, outer: int, inner: int) -> ir.Value:
    """One axis as two; one of their sizes may be -1: what is left."""
    shape = _dims(x)
    if shape[axis] >= 0:
        outer, inner = (shape[axis] // inner, inner) if outer < 0 else (outer, shape[axis] // outer)
    copied = [*range(axis), -1, -1, *range(axis + 1, len(shape))]
    return _reshaped(x, [*shape[:axis], outer, inner, *shape[axis + 1 :]], copied)


def _dims(x: ir.Value) -> list[int]:
    """Dims, -1 where they are dynamic."""
    kind = tensor_type(x.type)
    assert kind is not None
    return [dim if isinstance(dim, int) else -1 for dim in kind.shape]


def _reshaped(x: ir.Value, shape: Sequence[int], copied: Sequence[int]) -> ir.Value:
    """x in a shape whose dynamic dims are copied from an axis where `copied` names one."""
    if -1 not in shape:
        return dl.reshape(x, shape=shape)
    axes = [axis if dim < 0 else -1 for axis, dim in zip(copied, shape, strict=True)]
    return dl.reshape(x, shape=shape, copied=axes if any(axis >= 0 for axis in axes) else [])
