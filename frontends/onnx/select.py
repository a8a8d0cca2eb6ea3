"""Importers of ops whose data decide how much they give."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import scalar_value


@importer("NonZero")
def import_nonzero(node: NodeContext) -> ir.Value:
    found: ir.Value = dl.nonzero(node.value(0))
    return found


@importer("Compress")
def import_compress(node: NodeContext) -> ir.Value:
    """Without an axis of the elements as a list."""
    found: ir.Value = dl.compress(_along_an_axis(node), node.value(1), axis=int(node.attribute("axis", 0)))
    return found


@importer("Unique")
def import_unique(node: NodeContext) -> Sequence[ir.Value]:
    """Without an axis of the elements as a list."""
    axis, is_sorted = int(node.attribute("axis", 0)), bool(node.attribute("sorted", 1))
    found: Sequence[ir.Value] = dl.unique(_along_an_axis(node), axis=axis, sorted=is_sorted)
    return found[: node.num_outputs]


def _along_an_axis(node: NodeContext) -> ir.Value:
    """Input 0, as a list where the node has no axis."""
    is_list = node.has_attribute("axis") or node.rank(0) == 1
    return node.value(0) if is_list else dl.reshape(node.value(0), shape=[-1])


@importer("NonMaxSuppression")
def import_non_max_suppression(node: NodeContext) -> ir.Value:
    """Without the greatest number of boxes there are none."""
    most = scalar_value(node, 2) if node.has_input(2) else node.constant_value(0, "i64")
    limit = scalar_value(node, 3, "f32") if node.has_input(3) else node.constant_value(0, "f32")
    least = scalar_value(node, 4, "f32") if node.has_input(4) else None
    is_centered = bool(node.attribute("center_point_box", 0))
    found: ir.Value = dl.non_max_suppression(node.value(0), node.value(1), most, limit, least, center_point_box=is_centered)
    return found
