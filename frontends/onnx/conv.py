"""Importers of convolutions."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim, tensor_type
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.linear import centered
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.windows import read_window, split_padding


@importer("Conv")
def import_conv(node: NodeContext) -> ir.Value:
    return _conv(node, node.value(0), node.value(1), node.optional_value(2))


@importer("ConvInteger")
def import_conv_integer(node: NodeContext) -> ir.Value:
    """A convolution of i32: the operands less their zero points, so that padding is zero."""
    return _conv(node, centered(node, 0, 2), centered(node, 1, 3, axis=0), None)


def _conv(node: NodeContext, x: ir.Value, weight: ir.Value, bias: ir.Value | None) -> ir.Value:
    sizes, kernel = tensor_type(x.type).shape[2:], tensor_type(weight.type).shape[2:]
    if len(sizes) != len(kernel):
        node.unsupported(f"the weight has {len(kernel)} spatial axes but the input has {len(sizes)}")
    window = read_window(node, sizes, kernel)
    return dl.conv(x, weight, bias, groups=node.attribute("group", 1), **window.keywords())


@importer("ConvTranspose")
def import_conv_transpose(node: NodeContext) -> ir.Value:
    """`output_shape` and `auto_pad` give pads: what the sizes exceed the wanted ones by, or output padding where they fall short."""
    x, weight = node.type(0), node.type(1)
    rank = x.rank - 2
    strides = node.attribute("strides") or [1] * rank
    dilations = node.attribute("dilations") or [1] * rank
    extra = list(node.attribute("output_padding") or [0] * rank)
    pads = node.attribute("pads") or [0] * (2 * rank)
    mode = node.attribute("auto_pad", "NOTSET")
    if mode == "VALID":
        pads = [0] * (2 * rank)
    wanted = _wanted_sizes(node, x.shape[2:], strides, mode)
    if wanted is not None:
        totals = []
        for axis, wanted_size in enumerate(wanted):
            natural = _natural_size(
                node, x.shape[axis + 2], weight.shape[axis + 2], strides[axis], dilations[axis], wanted_size
            )
            totals.append(max(natural + extra[axis], 0))
            extra[axis] += max(-(natural + extra[axis]), 0)
        pads = split_padding(node, totals, more_after=mode == "SAME_UPPER")
    return dl.conv_transpose(
        node.value(0),
        node.value(1),
        node.optional_value(2),
        strides=strides,
        pads=pads,
        dilations=dilations,
        output_padding=extra,
        groups=node.attribute("group", 1),
    )


_TIMES_STRIDE = -1
"""Stands for a wanted size that is the input's times the stride."""


def _wanted_sizes(node: NodeContext, sizes: tuple[Dim, ...], strides: list[int], mode: str) -> list[int] | None:
    """Sizes of the result that the node asks for, or None where pads say them."""
    shape = node.attribute("output_shape")
    if shape:
        return list(shape[-len(sizes) :])
    return [_TIMES_STRIDE] * len(sizes) if mode in ("SAME_UPPER", "SAME_LOWER") else None


def _natural_size(node: NodeContext, size: Dim, taps: Dim, stride: int, dilation: int, wanted: int) -> int:
    """By how much the size without pads exceeds the wanted one."""
    if not isinstance(taps, int):
        node.unsupported("output_shape and auto_pad need a kernel whose size is known at compile time")
    reach = (taps - 1) * dilation + 1
    if wanted == _TIMES_STRIDE:
        return reach - stride
    if not isinstance(size, int):
        node.unsupported("output_shape needs spatial dims that are known at compile time")
    return (size - 1) * stride + reach - wanted
