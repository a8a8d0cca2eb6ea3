"""Ops that lay slices over a tensor of strings or complex numbers: at places that are given, or block by block."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dlc.runtime.host.moves import MOVED
from dlc.runtime.host.registry import HostNode, HostOpError, host_op


@host_op("TensorScatter", MOVED, always=False)
def tensor_scatter(node: HostNode, x: np.ndarray, update: np.ndarray, starts: np.ndarray | None = None) -> np.ndarray:
    """x with `update` from a place on along `axis`, one place for each index of the first axis (ONNX TensorScatter)."""
    axis, mode = node.get("axis", -2) % x.ndim, node.get("mode", "linear")
    others = [tuple(np.delete(each.shape, axis)) for each in (x, update)]
    if axis == 0 or others[0] != others[1] or update.shape[axis] > x.shape[axis]:
        raise HostOpError(f"an update of the shape {list(update.shape)} does not fit into {list(x.shape)} along axis {axis}")
    begin = np.zeros(len(x), np.int64) if starts is None else starts
    places = begin[:, None] + np.arange(update.shape[axis])
    length = x.shape[axis]
    places = places % length if mode == "circular" and length else places
    wrong = places[(places < 0) | (places >= length)]
    if wrong.size:
        raise HostOpError(f"place {int(wrong[0])} is not in an axis of {length}; give smaller write_indices, or mode circular")
    found = x.copy()
    np.moveaxis(found, axis, 1)[np.arange(len(x))[:, None], places] = np.moveaxis(update, axis, 1)
    return found


@host_op("Col2Im", MOVED, always=False)
def col2im(node: HostNode, x: np.ndarray, image: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Columns [N, C * block, blocks] as images [N, C, ...]: sums where blocks overlap, which strings must not (ONNX Col2Im)."""
    sizes, taps = [int(size) for size in image], [int(size) for size in block]
    axes = _places_along(node, sizes, taps)
    blocks = [places.shape[1] for places in axes]
    wanted = (math.prod(taps), math.prod(blocks))
    if x.ndim != 3 or x.shape[1] % wanted[0] or x.shape[2] != wanted[1]:
        raise HostOpError(
            f"columns of the shape {list(x.shape)} do not fit: blocks of {taps} in {sizes} need {wanted[0]} rows a channel and "
            f"{wanted[1]} columns"
        )
    place, is_inside = np.zeros((), np.int64), np.ones((), np.bool_)
    for axis, along in enumerate(axes):
        spread = np.expand_dims(along, [at for at in range(2 * len(axes)) if at not in (axis, len(axes) + axis)])
        place, is_inside = place * sizes[axis] + spread, is_inside & (spread >= 0) & (spread < sizes[axis])
    columns = x.reshape(-1, math.prod(wanted))[:, is_inside.reshape(-1)]
    found = _laid(columns, place[is_inside], math.prod(sizes))
    return found.reshape(len(x), x.shape[1] // wanted[0], *sizes)


def _places_along(node: HostNode, sizes: Sequence[int], taps: Sequence[int]) -> list[np.ndarray]:
    """[taps, blocks] of each axis: where each element of each block lies in the image, outside of it in the padding."""
    rank = len(sizes)
    strides, dilations = (node.get(name) or [1] * rank for name in ("strides", "dilations"))
    pads = node.get("pads") or [0] * (2 * rank)
    if any(len(each) != rank for each in (taps, strides, dilations)) or len(pads) != 2 * rank or min(*strides, *taps) < 1:
        raise HostOpError(f"blocks of {list(taps)}, strides, dilations and pads do not fit an image of {list(sizes)}")
    found = []
    for axis, (size, count) in enumerate(zip(sizes, taps, strict=True)):
        spare = size + pads[axis] + pads[axis + rank] - dilations[axis] * (count - 1) - 1
        blocks = np.arange(max(spare // strides[axis] + 1, 0)) * strides[axis] - pads[axis]
        found.append(np.arange(count)[:, None] * dilations[axis] + blocks)
    return found


def _laid(columns: np.ndarray, place: np.ndarray, size: int) -> np.ndarray:
    """[rows, size]: the elements of each row at their places."""
    if columns.dtype != object:
        found = np.zeros((len(columns), size), columns.dtype)
        np.add.at(found.T, place, columns.T)
        return found
    if len(np.unique(place)) != len(place):
        raise HostOpError("blocks of strings overlap, and strings have no sum; give strides from the block's sizes on")
    texts = np.full((len(columns), size), "", object)
    texts[:, place] = columns
    return texts
