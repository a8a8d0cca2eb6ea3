"""Ops that move elements of whatever type, for tensors of strings; numbers are moved by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op
from dlc.runtime.host.strings import STRINGS


@host_op("Identity", STRINGS, always=False)
def identity(node: HostNode, value: Any) -> Any:
    """The value (ONNX Identity)."""
    return value


@host_op("Constant", STRINGS, always=False)
def constant(node: HostNode) -> Any:
    """A tensor of strings (ONNX Constant)."""
    for name in ("value", "value_strings", "value_string"):
        if name in node.attributes:
            return np.asarray(node.attributes[name], dtype=object)
    raise HostOpError("has no value of strings")


@host_op("Shape", STRINGS, always=False)
def shape(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The sizes from axis `start` to `end`, as i64 (ONNX Shape)."""
    return np.array(x.shape[node.get("start", 0) : node.get("end")], np.int64)


@host_op("Size", STRINGS, always=False)
def size(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The number of elements, as a scalar of i64 (ONNX Size)."""
    return np.array(x.size, np.int64)


@host_op("Reshape", STRINGS, always=False)
def reshape(node: HostNode, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Another shape (ONNX Reshape): -1 is what is left, 0 that of x unless `allowzero`."""
    wanted = [int(each) for each in sizes]
    if not node.get("allowzero", 0):
        wanted = [x.shape[axis] if each == 0 and axis < x.ndim else each for axis, each in enumerate(wanted)]
    try:
        return x.reshape(wanted)
    except ValueError:
        raise HostOpError(f"{list(x.shape)} has not as many elements as {wanted}; give a shape that has") from None


@host_op("Flatten", STRINGS, always=False)
def flatten(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Two axes: those before `axis`, and the others (ONNX Flatten)."""
    axis = node.get("axis", 1)
    rows = int(np.prod(x.shape[:axis], dtype=np.int64))
    return x.reshape(rows, -1 if x.size else int(np.prod(x.shape[axis:], dtype=np.int64)))


@host_op("Squeeze", STRINGS, always=False)
def squeeze(node: HostNode, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    """Without axes of size 1 (ONNX Squeeze)."""
    given = node.get("axes") if axes is None else axes.tolist()
    return x.squeeze() if given is None else x.squeeze(tuple(given))


@host_op("Unsqueeze", STRINGS, always=False)
def unsqueeze(node: HostNode, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    """With new axes of size 1 (ONNX Unsqueeze)."""
    return np.expand_dims(x, tuple(node.get("axes") if axes is None else np.asarray(axes).reshape(-1).tolist()))


@host_op("Transpose", STRINGS, always=False)
def transpose(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Axes in another order (ONNX Transpose)."""
    return np.array(x.transpose(node.get("perm")), order="C")


@host_op("Concat", STRINGS, always=False)
def concat(node: HostNode, *parts: np.ndarray) -> np.ndarray:
    """Tensors side by side along `axis` (ONNX Concat)."""
    return np.concatenate(parts, node.get("axis"))


@host_op("Split", STRINGS, always=False)
def split(node: HostNode, x: np.ndarray, sizes: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """Parts along `axis`, of the sizes given or of equal ones (ONNX Split)."""
    axis = node.get("axis", 0)
    given = node.get("split") if sizes is None else sizes.tolist()
    count = node.get("num_outputs", node.num_outputs)
    step = -(-x.shape[axis] // count)
    ends: Sequence[int] = [step * (place + 1) for place in range(count - 1)] if given is None else np.cumsum(given)[:-1].tolist()
    return tuple(np.split(x, ends, axis))


@host_op("Slice", STRINGS, always=False)
def slice_(
    node: HostNode,
    x: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    axes: np.ndarray | None = None,
    steps: np.ndarray | None = None,
) -> np.ndarray:
    """Elements from starts to ends of some axes (ONNX Slice)."""
    cuts = [slice(None)] * x.ndim
    chosen = range(len(starts)) if axes is None else axes.tolist()
    strides = [1] * len(starts) if steps is None else steps.tolist()
    for axis, start, end, step in zip(chosen, starts.tolist(), ends.tolist(), strides, strict=True):
        cuts[axis] = slice(start, None if step < 0 and end < -x.shape[axis] else end, step)
    return np.array(x[tuple(cuts)], order="C")


@host_op("Gather", STRINGS, always=False)
def gather(node: HostNode, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Slices along `axis` by their numbers (ONNX Gather)."""
    axis = node.get("axis", 0)
    return np.asarray(x.take(_within(indices, x.shape[axis]), axis), dtype=object)


@host_op("GatherElements", STRINGS, always=False)
def gather_elements(node: HostNode, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Elements by their places along `axis` (ONNX GatherElements)."""
    axis = node.get("axis", 0)
    return np.take_along_axis(x, _within(indices, x.shape[axis]), axis)


def _within(indices: np.ndarray, size: int) -> np.ndarray:
    """Indices from 0 on."""
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise HostOpError(f"index {int(wrong.reshape(-1)[0])} is not in an axis of {size}; give {-size} to {size - 1}")
    return np.where(indices < 0, indices + size, indices)


@host_op("Tile", STRINGS, always=False)
def tile(node: HostNode, x: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """The tensor several times along each axis (ONNX Tile)."""
    return np.tile(x, repeats.tolist())


@host_op("Expand", STRINGS, always=False)
def expand(node: HostNode, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Broadcast with a shape (ONNX Expand)."""
    try:
        return np.array(np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(sizes.tolist()))), order="C")
    except ValueError:
        raise HostOpError(f"{list(x.shape)} does not broadcast with {sizes.tolist()}") from None


@host_op("Where", STRINGS, always=False)
def where(node: HostNode, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Elements of x where the condition holds, else of y (ONNX Where)."""
    return np.asarray(np.where(condition, x, y), dtype=object)


@host_op("Compress", STRINGS, always=False)
def compress(node: HostNode, x: np.ndarray, condition: np.ndarray) -> np.ndarray:
    """The slices along `axis`, or the elements, where the condition holds (ONNX Compress)."""
    return np.compress(condition, x, node.get("axis"))


@host_op("Unique", STRINGS, always=False)
def unique(node: HostNode, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Each string once, sorted or in the order of the first ones, with their places, the inverse and counts (ONNX Unique)."""
    if node.get("axis") is not None:
        raise HostOpError("unique slices of strings are not supported; leave out `axis`")
    values, first, inverse, counts = np.unique(
        x.reshape(-1).astype(str), return_index=True, return_inverse=True, return_counts=True
    )
    if not node.get("sorted", 1):
        order = np.argsort(first)
        rank = np.argsort(order)
        values, first, inverse, counts = values[order], first[order], rank[inverse], counts[order]
    found = (np.asarray(values, dtype=object), first, inverse.reshape(-1), counts)
    return tuple(each if each.dtype == object else each.astype(np.int64) for each in found)[: node.num_outputs]
