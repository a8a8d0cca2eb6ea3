"""Window attributes of convolutions and poolings, with `auto_pad` resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc.dialects.dl.types import Dim, Shape
from dlc.frontends.onnx.node import NodeContext


@dataclass(frozen=True)
class WindowAttributes:
    """Strides, pads (all begins, then all ends) and dilations of a node, one value per spatial axis."""

    strides: list[int]
    pads: list[int]
    dilations: list[int]

    def keywords(self) -> dict[str, list[int]]:
        """As attributes of a dl op."""
        return {"strides": self.strides, "pads": self.pads, "dilations": self.dilations}


def read_window(node: NodeContext, sizes: Shape, kernel: Shape) -> WindowAttributes:
    """The window of a convolution or pooling over spatial dims `sizes`."""
    rank = len(sizes)
    strides = node.attribute("strides") or [1] * rank
    dilations = node.attribute("dilations") or [1] * rank
    mode = node.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return WindowAttributes(strides, node.attribute("pads") or [0] * (2 * rank), dilations)
    if mode == "VALID":
        return WindowAttributes(strides, [0] * (2 * rank), dilations)
    totals = [
        _same_padding(node, size, _reach(node, taps, dilation), stride)
        for size, taps, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    return WindowAttributes(strides, split_padding(node, totals, more_after=mode == "SAME_UPPER"), dilations)


def split_padding(node: NodeContext, totals: Sequence[int], more_after: bool) -> list[int]:
    """Pads from the total per axis; of an odd total, the larger half goes after or before."""
    if node.attribute("auto_pad", "NOTSET") not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        node.unsupported(f"auto_pad '{node.attribute('auto_pad')}' is unknown")
    smaller, larger = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return [*smaller, *larger] if more_after else [*larger, *smaller]


def _reach(node: NodeContext, taps: Dim, dilation: int) -> int:
    if not isinstance(taps, int):
        node.unsupported("auto_pad needs a kernel whose size is known at compile time")
    return (taps - 1) * dilation + 1


def _same_padding(node: NodeContext, size: Dim, reach: int, stride: int) -> int:
    """Padding that gives ceil(size / stride) positions."""
    if stride == 1:
        return reach - 1
    if not isinstance(size, int):
        node.unsupported("auto_pad with strides needs spatial dims that are known at compile time")
    return max((-(-size // stride) - 1) * stride + reach - size, 0)
