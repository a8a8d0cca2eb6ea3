"""Importers of ops that read images between their elements."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic", "bicubic": "cubic"}
"""Before opset 20 linear and cubic have the names of their forms with two axes."""


@importer("GridSample")
def import_grid_sample(node: NodeContext) -> ir.Value:
    mode = node.attribute("mode", "linear")
    if mode not in _MODES:
        node.unsupported(f"mode {mode} is not supported (supported: {', '.join(_MODES)})")
    return dl.grid_sample(
        node.value(0),
        node.value(1),
        mode=_MODES[mode],
        padding=node.attribute("padding_mode", "zeros"),
        coordinates="align_corners" if node.attribute("align_corners", 0) else "half_pixel",
    )
