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
    _check_kernel(node, kernel)
    _check_lengths(node, rank)
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
    return WindowAttributes(strides, _split_padding(node, totals, more_after=mode == "SAME_UPPER"), dilations)


def _check_kernel(node: NodeContext, kernel: Shape) -> None:
    """The attribute kernel_shape, where there is one, must be the shape of the window."""
    given = node.attribute("kernel_shape")
    if given and (len(given) != len(kernel) or any(isinstance(k, int) and k != g for k, g in zip(kernel, given, strict=True))):
        node.unsupported(f"kernel_shape {list(given)} contradicts the weight, whose window is {list(kernel)}")


def _check_lengths(node: NodeContext, rank: int) -> None:
    """Attributes with an entry for each spatial axis, or two, must have as many, those too that another one overrules."""
    for name, count in (("strides", rank), ("dilations", rank), ("pads", 2 * rank), ("output_padding", rank)):
        given = node.attribute(name)
        if given and len(given) != count:
            node.unsupported(f"{name} {list(given)} has {len(given)} entries but the window needs {count}")


def read_transposed_window(node: NodeContext, sizes: Shape, kernel: Shape) -> dict[str, list[int]]:
    """Attributes of a transposed convolution over spatial dims `sizes`.

    `output_shape` and `auto_pad` give pads, by how much the result would exceed the wanted size, or output padding
    where it would fall short.
    """
    rank = len(sizes)
    _check_kernel(node, kernel)
    _check_lengths(node, rank)
    strides = node.attribute("strides") or [1] * rank
    dilations = node.attribute("dilations") or [1] * rank
    extra = list(node.attribute("output_padding") or [0] * rank)
    mode, wanted = node.attribute("auto_pad", "NOTSET"), node.attribute("output_shape") or []
    if wanted and len(wanted) != rank:
        node.unsupported(f"output_shape {list(wanted)} has {len(wanted)} entries but the window needs {rank}")
    pads = (node.attribute("pads") or [0] * (2 * rank)) if mode != "VALID" else [0] * (2 * rank)
    if wanted or mode in ("SAME_UPPER", "SAME_LOWER"):
        excess = []
        for axis, (size, taps) in enumerate(zip(sizes, kernel, strict=True)):
            reach = _reach(node, taps, dilations[axis])
            natural = reach - strides[axis] if not wanted else _excess(node, size, strides[axis], reach, wanted[axis])
            excess.append(natural + extra[axis])
        pads = _split_padding(node, [max(size, 0) for size in excess], more_after=mode == "SAME_UPPER")
        extra = [have + max(-size, 0) for have, size in zip(extra, excess, strict=True)]
    return {"strides": strides, "pads": pads, "dilations": dilations, "output_padding": extra}


def _excess(node: NodeContext, size: Dim, stride: int, reach: int, wanted: int) -> int:
    """By how much a result without pads exceeds the wanted size."""
    if not isinstance(size, int):
        node.unknown(0, "output_shape needs spatial dims that are known at compile time", of_dims=True)
    return (size - 1) * stride + reach - wanted


def _split_padding(node: NodeContext, totals: Sequence[int], more_after: bool) -> list[int]:
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
    if stride < 1:
        node.unsupported(f"strides {node.attribute('strides')} must be 1 or more")
    if not isinstance(size, int):
        node.unknown(0, "auto_pad with strides needs spatial dims that are known at compile time", of_dims=True)
    return max((-(-size // stride) - 1) * stride + reach - size, 0)
