"""Importer of Col2Im."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext


@importer("Col2Im")
def import_col2im(node: NodeContext) -> ir.Value:
    """The sizes of image and block must be known."""
    image, kernel = (
        [int(size) for size in node.required_constant(index, name).reshape(-1)]
        for index, name in ((1, "image_shape"), (2, "block_shape"))
    )
    window = {name: [int(item) for item in node.attribute(name) or []] for name in ("strides", "pads", "dilations")}
    return dl.col2im(node.value(0), image=image, kernel=kernel, **window)
