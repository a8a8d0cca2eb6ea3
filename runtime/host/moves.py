"""Ops that move elements, for tensors of strings and of complex numbers; other numbers are moved by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op

MOVED = "strings and complex numbers are not compiled"


@host_op("Identity", MOVED, always=False)
def identity(node: HostNode, value: Any) -> Any:
    """The value (ONNX Identity)."""
    return value


@host_op("Constant", MOVED, always=False)
def constant(node: HostNode) -> Any:
    """A tensor of strings or complex numbers (ONNX Constant)."""
    if "value" in node.attributes:
        return node.attributes["value"]
    for name in ("value_strings", "value_string"):
        if name in node.attributes:
            return np.asarray(node.attributes[name], dtype=object)
    raise HostOpError("has no value of strings or complex numbers")


@host_op("Shape", MOVED, always=False)
def shape(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The sizes from axis `start` to `end`, as i64 (ONNX Shape)."""
    return np.array(x.shape[node.get("start", 0) : node.get("end")], np.int64)


@host_op("Size", MOVED, always=False)
def size(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The number of elements, as a scalar of i64 (ONNX Size)."""
    return np.array(x.size, np.int64)


@host_op("Reshape", MOVED, always=False)
def reshape(node: HostNode, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Another shape (ONNX Reshape): -1 is what is left, 0 that of x unless `allowzero`."""
    wanted = [int(each) for each in sizes]
    if not node.get("allowzero", 0):
        wanted = [x.shape[axis] if each == 0 and axis < x.ndim else each for axis, each in enumerate(wanted)]
    try:
        return x.reshape(wanted)
    except ValueError:
        raise HostOpError(f"{list(x.shape)} has not as many elements as {wanted}; give a shape that has") from None


@host_op("Flatten", MOVED, always=False)
def flatten(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Two axes: those before `axis`, and the others (ONNX Flatten)."""
    axis = node.get("axis", 1)
    rows = int(np.prod(x.shape[:axis], dtype=np.int64))
    return x.reshape(rows, -1 if x.size else int(np.prod(x.shape[axis:], dtype=np.int64)))


@host_op("Squeeze", MOVED, always=False)
def squeeze(node: HostNode, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    """Without axes of size 1 (ONNX Squeeze)."""
    given = node.get("axes") if axes is None else axes.tolist()
    return x.squeeze() if given is None else x.squeeze(tuple(given))


@host_op("Unsqueeze", MOVED, always=False)
def unsqueeze(node: HostNode, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    """With new axes of size 1 (ONNX Unsqueeze)."""
    return np.expand_dims(x, tuple(node.get("axes") if axes is None else np.asarray(axes).reshape(-1).tolist()))


@host_op("Transpose", MOVED, always=False)
def transpose(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Axes in another order (ONNX Transpose)."""
    return np.array(x.transpose(node.get("perm")), order="C")


@host_op("Concat", MOVED, always=False)
def concat(node: HostNode, *parts: np.ndarray) -> np.ndarray:
    """Tensors side by side along `axis` (ONNX Concat)."""
    return np.concatenate(parts, node.get("axis"))


@host_op("Split", MOVED, always=False)
def split(node: HostNode, x: np.ndarray, sizes: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """Parts along `axis`, of the sizes given or of equal ones (ONNX Split)."""
    axis = node.get("axis", 0)
    given = node.get("split") if sizes is None else sizes.tolist()
    count = node.get("num_outputs", node.num_outputs)
    step = -(-x.shape[axis] // count)
    ends: Sequence[int] = [step * (place + 1) for place in range(count - 1)] if given is None else np.cumsum(given)[:-1].tolist()
    return tuple(np.split(x, ends, axis))


@host_op("Slice", MOVED, always=False)
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


@host_op("Gather", MOVED, always=False)
def gather(node: HostNode, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Slices along `axis` by their numbers (ONNX Gather)."""
    axis = node.get("axis", 0)
    found: np.ndarray = x.take(within(indices, x.shape[axis]), axis)
    return found


@host_op("GatherElements", MOVED, always=False)
def gather_elements(node: HostNode, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Elements by their places along `axis` (ONNX GatherElements)."""
    axis = node.get("axis", 0) % x.ndim
    return np.take_along_axis(_beside(x, indices, axis), within(indices, x.shape[axis]), axis)


def _beside(x: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    """The part of x that has the sizes of `indices` along all axes but `axis`, as a view."""
    fits = x.ndim == indices.ndim and all(
        at == axis or have <= most for at, (have, most) in enumerate(zip(indices.shape, x.shape, strict=False))
    )
    if not fits:
        raise HostOpError(
            f"indices of the shape {list(indices.shape)} do not fit into {list(x.shape)} along the axes beside {axis}"
        )
    return x[tuple(slice(None if at == axis else size) for at, size in enumerate(indices.shape))]


def within(indices: np.ndarray, size: int) -> np.ndarray:
    """Indices from 0 on."""
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise HostOpError(f"index {int(wrong.reshape(-1)[0])} is not in an axis of {size}; give {-size} to {size - 1}")
    return np.where(indices < 0, indices + size, indices)


@host_op("Tile", MOVED, always=False)
def tile(node: HostNode, x: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """The tensor several times along each axis (ONNX Tile)."""
    return np.tile(x, repeats.tolist())


@host_op("Expand", MOVED, always=False)
def expand(node: HostNode, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Broadcast with a shape (ONNX Expand)."""
    try:
        return np.array(np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(sizes.tolist()))), order="C")
    except ValueError:
        raise HostOpError(f"{list(x.shape)} does not broadcast with {sizes.tolist()}") from None


@host_op("Where", MOVED, always=False)
def where(node: HostNode, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Elements of x where the condition holds, else of y (ONNX Where)."""
    return np.where(condition, x, y)


@host_op("Compress", MOVED, always=False)
def compress(node: HostNode, x: np.ndarray, condition: np.ndarray) -> np.ndarray:
    """The slices along `axis`, or the elements, where the condition holds (ONNX Compress)."""
    return np.compress(condition, x, node.get("axis"))


@host_op("Unique", MOVED, always=False)
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
    places = (each.reshape(-1).astype(np.int64) for each in (first, inverse, counts))
    return (values.astype(x.dtype), *places)[: node.num_outputs]


@host_op("GatherND", MOVED, always=False)
def gather_nd(node: HostNode, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Slices by their places along several axes, behind `batch_dims` axes that both have (ONNX GatherND)."""
    batch = node.get("batch_dims", 0)
    depth, shape = indices.shape[-1], x.shape[:batch]
    places = np.stack([within(indices[..., at], x.shape[batch + at]) for at in range(depth)], -1)
    flat = places.reshape(int(np.prod(shape, dtype=np.int64)), -1, depth)
    rows = x.reshape(len(flat), *x.shape[batch:])
    found = np.stack([row[tuple(np.moveaxis(each, -1, 0))] for row, each in zip(rows, flat, strict=True)]) if len(flat) else rows
    return found.reshape(*indices.shape[:-1], *x.shape[batch + depth :])


@host_op("ScatterElements", MOVED, always=False)
@host_op("Scatter", MOVED, always=False)
def scatter_elements(node: HostNode, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """x with `updates` at places along `axis` (ONNX ScatterElements)."""
    _refuse_reduction(node)
    found, axis = x.copy(), node.get("axis", 0) % x.ndim
    np.put_along_axis(_beside(found, indices, axis), within(indices, x.shape[axis]), updates, axis)
    return found


@host_op("ScatterND", MOVED, always=False)
def scatter_nd(node: HostNode, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """x with slices of `updates` at places along its first axes (ONNX ScatterND)."""
    _refuse_reduction(node)
    found = x.copy()
    places = tuple(within(indices[..., at], x.shape[at]) for at in range(indices.shape[-1]))
    found[places] = updates
    return found


def _refuse_reduction(node: HostNode) -> None:
    if node.get("reduction", "none") != "none":
        raise HostOpError(f"reduction {node.get('reduction')} is for numbers that are compiled; leave it out")


@host_op("Pad", MOVED, always=False)
def pad(
    node: HostNode, x: np.ndarray, counts: np.ndarray, value: np.ndarray | None = None, axes: np.ndarray | None = None
) -> np.ndarray:
    """Elements before and after x along some axes: a value, or others of x by `mode`; negative counts cut (ONNX Pad)."""
    chosen = range(x.ndim) if axes is None else [int(axis) % x.ndim for axis in axes]
    widths = np.zeros((x.ndim, 2), np.int64)
    widths[list(chosen)] = np.asarray(counts).reshape(2, -1).T
    cut = x[tuple(slice(max(0, -low), size + min(0, high)) for size, (low, high) in zip(x.shape, widths, strict=True))]
    grown, mode = np.maximum(widths, 0), node.get("mode", "constant")
    if mode != "constant":
        return np.pad(cut, grown, mode)
    empty: Any = "" if x.dtype == object else 0
    return np.pad(cut, grown, constant_values=empty if value is None else np.asarray(value).reshape(())[()])


@host_op("ReverseSequence", MOVED, always=False)
def reverse_sequence(node: HostNode, x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The first elements of each sequence in the opposite order (ONNX ReverseSequence)."""
    time, batch = node.get("time_axis", 0), node.get("batch_axis", 1)
    found = np.moveaxis(x.copy(), (batch, time), (0, 1))
    for row, length in zip(found, lengths.tolist(), strict=True):
        row[:length] = row[:length][::-1].copy()
    return np.array(np.moveaxis(found, (0, 1), (batch, time)), order="C")


@host_op("DepthToSpace", MOVED, always=False)
def depth_to_space(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Blocks of channels as squares of the image (ONNX DepthToSpace)."""
    block, (batch, channels, rows, columns) = node.get("blocksize"), x.shape
    left = channels // block**2
    if node.get("mode", "DCR") == "DCR":
        parts = x.reshape(batch, block, block, left, rows, columns).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(batch, left, block, block, rows, columns).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(batch, left, rows * block, columns * block)


@host_op("SpaceToDepth", MOVED, always=False)
def space_to_depth(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Squares of the image as blocks of channels (ONNX SpaceToDepth)."""
    block, (batch, channels, rows, columns) = node.get("blocksize"), x.shape
    parts = x.reshape(batch, channels, rows // block, block, columns // block, block).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(batch, channels * block**2, rows // block, columns // block)


@host_op("Trilu", MOVED, always=False)
def trilu(node: HostNode, x: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
    """The upper or lower triangle from a diagonal on; the rest is empty (ONNX Trilu)."""
    offset = 0 if diagonal is None else int(np.asarray(diagonal).reshape(()))
    ones = np.ones(x.shape[-2:], np.bool_)
    kept = np.triu(ones, offset) if node.get("upper", 1) else np.tril(ones, offset)
    empty: Any = "" if x.dtype == object else 0
    return np.where(kept, x, np.array(empty, x.dtype))


@host_op("OneHot", MOVED, always=False)
def one_hot(node: HostNode, indices: np.ndarray, depth: np.ndarray, values: np.ndarray) -> np.ndarray:
    """values[1] at the place that an index says along a new axis, else values[0] (ONNX OneHot)."""
    count = int(np.asarray(depth).reshape(()))
    places = np.where(indices < 0, indices + count, indices)
    axis = node.get("axis", -1) % (indices.ndim + 1)
    hot = np.expand_dims(places, axis) == np.arange(count).reshape([-1 if at == axis else 1 for at in range(indices.ndim + 1)])
    return np.where(hot, values[1], values[0]).astype(values.dtype)


@host_op("NonZero", MOVED, always=False)
def nonzero(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The places of elements that are not zero, or not empty, one a column, as i64 (ONNX NonZero)."""
    return np.stack(np.nonzero(x != "" if x.dtype == object else x)).astype(np.int64).reshape(x.ndim, -1)
