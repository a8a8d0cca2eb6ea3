"""Importers of ops that reshape, reorder and repeat."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.importers import Imported, importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import (
    attribute_or_input,
    ints,
    list_length,
    merge_axes,
    split_axis,
)


@importer("Reshape")
def import_reshape(node: NodeContext) -> ir.Value:
    """0 copies a dim unless allowzero is set; a shape that run time knows stays an operand."""
    allow_zero = bool(node.attribute("allowzero", 0))
    known = node.constant(1)
    if known is None:
        count = list_length(node, 1, "the result's rank")
        return dl.reshape(node.value(0), node.value(1), shape=[-1] * count, zero_copies=not allow_zero)
    shape, own = ints(known), node.type(0).shape
    copied = [-1] * len(shape)
    for axis, size in enumerate(shape):
        if size != 0 or allow_zero:
            continue
        if axis >= len(own):
            node.unsupported(f"shape {shape} copies dim {axis}, which {node.type(0)} does not have")
        dim = own[axis]
        shape[axis], copied[axis] = (dim, -1) if isinstance(dim, int) else (-1, axis)
    return dl.reshape(node.value(0), shape=shape, copied=copied if any(axis >= 0 for axis in copied) else [])


@importer("Flatten")
def import_flatten(node: NodeContext) -> ir.Value:
    """All axes before `axis` as one, and all others as one."""
    x, rank = node.value(0), node.rank(0)
    axis = int(node.attribute("axis", 1))
    if not -rank <= axis <= rank:
        node.unsupported(f"axis {axis} is out of range for rank {rank}")
    axis += rank if axis < 0 else 0
    for missing, at in ((axis == 0, 0), (axis == rank, rank)):
        if missing:
            x = dl.unsqueeze(x, axes=[at])
    axis, rank = (1, rank + 1) if axis == 0 else (axis, max(rank, axis + 1))
    if rank - axis > 1:
        x = merge_axes(x, axis, rank - axis)
    return merge_axes(x, 0, axis) if axis > 1 else x


@importer("Transpose")
def import_transpose(node: NodeContext) -> ir.Value:
    """Without perm the axes are reversed."""
    perm = node.attribute("perm") or list(reversed(range(node.rank(0))))
    return dl.transpose(node.value(0), perm=perm)


@importer("Squeeze")
def import_squeeze(node: NodeContext) -> ir.Value:
    """Without axes every axis of size 1 goes, which needs static dims; an empty list takes none, as in ONNX's reference."""
    axes, kind = attribute_or_input(node, "axes", 1), node.type(0)
    if axes is None and not kind.is_static:
        node.unknown(0, f"without axes the dims of its input must be known at compile time, but it is {kind}", of_dims=True)
    if axes is None:
        axes = [axis for axis, dim in enumerate(kind.shape) if dim == 1]
    return dl.squeeze(node.value(0), axes=axes)


@importer("Unsqueeze")
def import_unsqueeze(node: NodeContext) -> ir.Value:
    axes = attribute_or_input(node, "axes", 1)
    return dl.unsqueeze(node.value(0), axes=axes or [])


@importer("Expand")
def import_expand(node: NodeContext) -> ir.Value:
    known = node.constant(1)
    if known is not None:
        return dl.expand(node.value(0), shape=ints(known))
    return dl.expand(node.value(0), node.value(1), shape=[-1] * list_length(node, 1, "the result's rank"))


@importer("Tile")
def import_tile(node: NodeContext) -> ir.Value:
    """Repeats that run time knows: a new axis before each axis is expanded and merged with it."""
    known, x, rank = node.constant(1), node.value(0), node.rank(0)
    if known is not None:
        return dl.tile(x, repeats=ints(known))
    repeats = node.value(1)
    ones = node.constant_value(np.ones((rank, 1)), "i64")
    pairs = dl.reshape(dl.concat(dl.reshape(repeats, shape=[rank, 1]), ones, axis=1), shape=[2 * rank])
    spread = dl.unsqueeze(x, axes=range(0, 2 * rank, 2))
    wide = dl.expand(spread, pairs, shape=[-1, 1] * rank)
    return dl.reshape(wide, dl.mul(repeats, dl.shape_of(x)), shape=[-1] * rank)


@importer("Shape")
def import_shape(node: NodeContext) -> Imported:
    """Known at import where the dims are static."""
    dims = node.type(0).shape
    start, end = int(node.attribute("start", 0)), node.attribute("end")
    if all(isinstance(dim, int) for dim in dims[start:end]):
        return np.array(dims[start:end], np.int64)
    return dl.shape_of(node.value(0), start=start, end=end)


@importer("Size")
def import_size(node: NodeContext) -> Imported:
    """Known at import where the dims are static."""
    count = node.type(0).num_elements
    return dl.size(node.value(0)) if count is None else np.array(count, np.int64)


@importer("DepthToSpace")
def import_depth_to_space(node: NodeContext) -> ir.Value:
    """Channels as blocks of pixels: split into (block, block, channels), or (channels, block, block), and moved."""
    block, x = _block_size(node), node.value(0)
    if node.attribute("mode", "DCR") == "DCR":
        x = split_axis(split_axis(x, 1, block, -1), 2, block, -1)
        x = dl.transpose(x, perm=[0, 3, 4, 1, 5, 2])
    else:
        x = split_axis(split_axis(x, 1, -1, block), 1, -1, block)
        x = dl.transpose(x, perm=[0, 1, 4, 2, 5, 3])
    return merge_axes(merge_axes(x, 4), 2)


@importer("SpaceToDepth")
def import_space_to_depth(node: NodeContext) -> ir.Value:
    """Blocks of pixels as channels: (block, block, channels) merged, or (channels, block, block)."""
    block = _block_size(node)
    perm = [0, 3, 5, 1, 2, 4] if node.attribute("mode", "DCR") == "DCR" else [0, 1, 3, 5, 2, 4]
    x = split_axis(split_axis(node.value(0), 3, -1, block), 2, -1, block)
    return merge_axes(dl.transpose(x, perm=perm), 1, 3)


def _block_size(node: NodeContext) -> int:
    """Rows and columns of a block of an image's pixels."""
    block, kind, mode = int(node.attribute("blocksize")), node.type(0), node.attribute("mode", "DCR")
    if block < 1 or kind.rank != 4:
        node.unsupported(f"blocks of {block} (blocksize) do not fit {kind}; it takes images of 4 axes, and blocks of 1 and more")
    if mode not in ("DCR", "CRD"):
        node.unsupported(f"mode {mode} is not supported; it may be DCR or CRD")
    return block
