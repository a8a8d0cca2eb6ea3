"""Lowering of convolutions whose results stay as wide as their sums; that of such products is in `linear.py`."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.window import Layout, Window
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import require_same
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.windows import pad_spatial, position_extents
from dlc.lowering.dl_to_linalg.contractions.convolution import Convolution


@lowering("widening_conv")
def lower_widening_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Pad in the type of the image, then sum products in f32."""
    x, weight = op.operands
    layout = Layout(op.types[0].rank - 2, channels_last=True)
    require_same(b, op, (0, layout.channel), (1, layout.kernel_in))
    window = Window.of("", layout.taps_of(op.types[1].shape), op["strides"], op["pads"], op["dilations"])
    positions = position_extents(b, x, layout.taps_of(b.shape(weight)), window, layout)
    padded = pad_spatial(b, x, window.pads_begin, window.pads_end, layout, b.scalar(0, op.types[0].dtype))
    conv = Convolution(b, op.result.dtype, weight, None, window.strides, window.dilations, 1, positions, layout)
    return conv.apply(padded)
