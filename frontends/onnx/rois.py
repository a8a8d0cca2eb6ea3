"""Importers of ops that take regions out of images."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_HALF_PIXEL_SINCE = 16
"""Opset from which coordinates are those of corners unless the node says otherwise."""


@importer("RoiAlign")
def import_roi_align(node: NodeContext) -> ir.Value:
    default = "half_pixel" if node.opset >= _HALF_PIXEL_SINCE else "output_half_pixel"
    return dl.roi_align(
        *node.values(),
        size=[int(node.attribute(name, 1)) for name in ("output_height", "output_width")],
        sampling_ratio=int(node.attribute("sampling_ratio", 0)),
        spatial_scale=float(node.attribute("spatial_scale", 1.0)),
        mode=node.attribute("mode", "avg"),
        coordinates=node.attribute("coordinate_transformation_mode", default),
    )


@importer("MaxRoiPool")
def import_max_roi_pool(node: NodeContext) -> ir.Value:
    size = [int(each) for each in node.attribute("pooled_shape")]
    return dl.max_roi_pool(*node.values(), size=size, spatial_scale=float(node.attribute("spatial_scale", 1.0)))
