"""How large images of open sides usually are, by the channels that convolutions give them."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.types import Dim
from dlc.dialects.dl.window import Layout
from dlc.lowering.dl.matching import attributes_of
from dlc.lowering.policy import policy

_CONVOLUTIONS = ("dl.conv", "dl.winograd_conv")


def usual_sides_of(function: ir.Operation, shapes: SymbolicShapes) -> dict[Dim, int]:
    """The usual size of each dim that run time decides and that is a side of a convolution's result.

    Networks halve the sides of images where they double their channels, so the widest image that has the dim tells most.
    """
    found: dict[Dim, int] = {}
    for op in nested_ops(function):
        if op.name in _CONVOLUTIONS:
            sides, channels = _image(op, shapes)
            usual = policy().winograd.usual_sides(channels)[-1] if channels else 0
            found.update((side, min(usual, found.get(side, usual))) for side in sides if usual)
    return found


def _image(op: ir.Operation, shapes: SymbolicShapes) -> tuple[Sequence[Dim], int]:
    """The open sides of the image that a convolution gives, and its channels; 0 where they are not known or it is no image."""
    kind = shapes.type_of(op.results[0])
    layout = Layout(kind.rank - 2, op.name != "dl.conv" or attributes_of(op)["channels_last"])
    channels = kind.dim(layout.channel)
    if kind.rank != 4 or not isinstance(channels, int):
        return [], 0
    return [side for side in layout.spatial_of(kind.shape) if isinstance(side, str)], channels
