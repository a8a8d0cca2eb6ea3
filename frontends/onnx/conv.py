"""Importers of convolutions."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.activation import activated
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.linear import centered
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.windows import read_transposed_window, read_window


@importer("Conv")
def import_conv(node: NodeContext) -> ir.Value:
    return convolution(node, node.value(0), node.value(1), node.optional_value(2))


@importer("FusedConv", domain="com.microsoft")
def import_fused_conv(node: NodeContext) -> ir.Value:
    """A convolution, the sum with a fourth input, and an activation."""
    found = convolution(node, node.value(0), node.value(1), node.optional_value(2))
    if node.has_input(3):
        found = dl.add(found, node.value(3))
    names = _PARAMETERS.get(node.attribute("activation", ""), ())
    return activated(node, found, dict(zip(names, node.attribute("activation_params") or [], strict=False)))


_PARAMETERS = {"LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "Clip": ("alpha", "beta")}
"""Names of an activation's parameters, in the order in which FusedConv lists them."""


@importer("ConvInteger")
def import_conv_integer(node: NodeContext) -> ir.Value:
    """A convolution of i32: the operands less their zero points, so that padding is zero."""
    return convolution(node, centered(node, 0, 2), centered(node, 1, 3, axis=0), None)


def convolution(node: NodeContext, x: ir.Value, weight: ir.Value, bias: ir.Value | None) -> ir.Value:
    """The convolution of two values with the window that the node's attributes describe."""
    sizes, kernel = type_of_value(x).shape[2:], type_of_value(weight).shape[2:]
    if len(sizes) != len(kernel):
        node.unsupported(f"the weight has {len(kernel)} spatial axes but the input has {len(sizes)}")
    window = read_window(node, sizes, kernel)
    return dl.conv(x, weight, bias, groups=node.attribute("group", 1), **window.keywords())


@importer("ConvTranspose")
def import_conv_transpose(node: NodeContext) -> ir.Value:
    window = read_transposed_window(node, node.type(0).shape[2:], node.type(1).shape[2:])
    operands = (node.value(0), node.value(1), node.optional_value(2))
    return dl.conv_transpose(*operands, groups=node.attribute("group", 1), **window)
