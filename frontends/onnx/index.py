"""Importers of ops that read or write at positions, and of selections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import scalar_value


def _check_indices(node: NodeContext, axis: int) -> None:
    """Refuse indices that are known at import and lie outside of the axis that they index."""
    indices, shape = node.constant(1), node.type(0).shape
    dim = shape[axis] if -len(shape) <= axis < len(shape) else None
    if indices is None or not isinstance(dim, int) or indices.size == 0:
        return
    wrong = indices[(indices < -dim) | (indices >= dim)]
    if wrong.size:
        node.unsupported(f"index {wrong.reshape(-1)[0]} is out of range for axis {axis}, which has {dim} elements")


@importer("Gather")
def import_gather(node: NodeContext) -> ir.Value:
    _check_indices(node, int(node.attribute("axis", 0)))
    return dl.gather(*node.values(), axis=int(node.attribute("axis", 0)))


@importer("GatherElements")
def import_gather_elements(node: NodeContext) -> ir.Value:
    _check_indices(node, int(node.attribute("axis", 0)))
    return dl.gather_elements(*node.values(), axis=int(node.attribute("axis", 0)))


@importer("GatherND")
def import_gather_nd(node: NodeContext) -> ir.Value:
    return dl.gather_nd(*node.values(), batch_dims=int(node.attribute("batch_dims", 0)))


@importer("ReverseSequence")
def import_reverse_sequence(node: NodeContext) -> ir.Value:
    axes = {"axis": int(node.attribute("time_axis", 0)), "batch_axis": int(node.attribute("batch_axis", 1))}
    return dl.reverse_sequence(node.value(0), node.value(1), **axes)


@importer("Scatter", "ScatterElements")
def import_scatter_elements(node: NodeContext) -> ir.Value:
    axis, reduction = int(node.attribute("axis", 0)), node.attribute("reduction", "none")
    _check_indices(node, axis)
    return dl.scatter_elements(*node.values(), axis=axis, reduction=reduction)


@importer("ScatterND")
def import_scatter_nd(node: NodeContext) -> ir.Value:
    return dl.scatter_nd(*node.values(), reduction=node.attribute("reduction", "none"))


@importer("TensorScatter")
def import_tensor_scatter(node: NodeContext) -> ir.Value:
    """Without write indices every window starts at 0; in mode linear no window may go past the end of x."""
    starts = node.optional_value(2)
    if starts is None:
        starts = node.constant_value(np.zeros(1, np.int64))
    axis, is_circular = int(node.attribute("axis", -2)), node.attribute("mode", "linear") == "circular"
    has_axis = all(-node.rank(index) <= axis < node.rank(index) for index in (0, 1))
    if node.has_input(2) and not is_circular and has_axis:
        starts = _within(node, starts, axis)
    return dl.update_slice(node.value(0), node.value(1), starts, axis=axis, circular=is_circular)


def _within(node: NodeContext, starts: ir.Value, axis: int) -> ir.Value:
    """Write indices, none negative, whose windows end where the axis does at the latest; known ones are checked now."""
    size, count = (node.type(index).shape[axis] for index in (0, 1))
    known = node.constant(2)
    if known is not None and isinstance(size, int) and isinstance(count, int):
        wrong = known[(known < 0) | (known > size - count)]
        if wrong.size:
            node.unsupported(f"write index {wrong[0]} does not fit {count} places into an axis of {size}")
        return starts
    kind = type_of_value(starts).dtype
    sizes = [
        node.constant_value(dim, "i64") if isinstance(dim, int) else _dim_of(node, at, axis) for at, dim in enumerate((size, count))
    ]
    places = starts if kind == "i64" else dl.cast(starts, to="i64")
    holds = dl.and_(dl.less_equal(node.constant_value(0, "i64"), places), dl.less_equal(places, dl.sub(*sizes)))
    what = "a write index is negative, or its update goes past the end of the axis; give smaller write_indices, or mode circular"
    found: ir.Value = dl.assert_(starts, holds, message=what)
    return found


def _dim_of(node: NodeContext, index: int, axis: int) -> ir.Value:
    """A dim of an input that run time knows, as a scalar."""
    axis %= node.rank(index)
    return dl.reshape(dl.shape_of(node.value(index), start=axis, end=axis + 1), shape=[])


@importer("TopK")
def import_top_k(node: NodeContext) -> Sequence[ir.Value]:
    """The result is sorted though the node may not ask for it."""
    k, known = node.attribute("k"), node.constant(1)
    if known is not None:
        k = int(node.constant_scalar(1, "k"))
    axis, largest = int(node.attribute("axis", -1)), bool(node.attribute("largest", 1))
    count = scalar_value(node, 1) if k is None else None
    found: Sequence[ir.Value] = dl.top_k(node.value(0), count, k=k, axis=axis, largest=largest)
    return found
