"""Importers of quantised numbers: conversions, and products and convolutions between them."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.conv import convolution
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.linear import centered, matmul
from dlc.frontends.onnx.node import NodeContext

_RANGES = {"ui8": (0, 255), "i8": (-128, 127)}
_DTYPES = {2: "ui8", 3: "i8"}
"""Element types of ONNX by number."""


@importer("QuantizeLinear")
def import_quantize_linear(node: NodeContext) -> ir.Value:
    """saturate(round(x / scale) + zero point), halves to the even integer."""
    x, scale = node.value(0), node.value(1)
    axis = _axis(node, type_of_value(x).rank)
    number = _DTYPES.get(node.attribute("output_dtype", 0))
    dtype = type_of_value(node.value(2)).dtype if node.has_input(2) else number or "ui8"
    if dtype not in _RANGES or (node.attribute("output_dtype", 0) and number != dtype):
        node.unsupported(f"quantised numbers of {dtype} are not supported (supported: ui8, i8)")
    zero = _along(node, node.value(2), axis, type_of_value(x).rank) if node.has_input(2) else None
    return _quantized(dl.div(x, _along(node, scale, axis, type_of_value(x).rank)), zero, dtype)


@importer("DequantizeLinear")
def import_dequantize_linear(node: NodeContext) -> ir.Value:
    """(x - zero point) * scale"""
    x, scale = node.value(0), node.value(1)
    rank, dtype = type_of_value(x).rank, type_of_value(scale).dtype
    axis = _axis(node, rank)
    whole = dl.cast(x, to="i32")
    known = node.constant(2) if node.has_input(2) else np.zeros((), np.int32)
    if known is None or len(np.unique(known)) > 1:
        whole = dl.sub(whole, dl.cast(_along(node, node.value(2), axis, rank), to="i32"))
    elif known.any():
        whole = dl.sub(whole, node.constant_value(known.astype(np.int32).reshape(-1)[0]))
    return dl.mul(dl.cast(whole, to=dtype), _along(node, scale, axis, rank))


@importer("DynamicQuantizeLinear")
def import_dynamic_quantize_linear(node: NodeContext) -> list[ir.Value]:
    """x as ui8 with the scale and zero point that its range, 0 included, asks for; the scale of zeros alone is 1."""
    x = node.value(0)
    nothing = node.constant_value(np.array(0, np.float32))
    high, low = dl.max(dl.reduce_max(x), nothing), dl.min(dl.reduce_min(x), nothing)
    quotient = dl.div(dl.sub(high, low), node.constant_value(np.array(255, np.float32)))
    scale = dl.where(dl.equal(high, low), node.constant_value(np.array(1, np.float32)), quotient)
    zero = dl.cast(dl.round(dl.clip(dl.div(dl.sub(nothing, low), scale), low=0.0, high=255.0)), to="ui8")
    return [_quantized(dl.div(x, scale), zero, "ui8"), scale, zero]


@importer("QLinearMatMul")
def import_qlinear_matmul(node: NodeContext) -> ir.Value:
    """MatMulInteger of a and b, times a_scale * b_scale / y_scale, as bytes around y's zero point."""
    a, b = type_of_value(node.value(0)), type_of_value(node.value(3))
    product = matmul(centered(node, 0, 2, axis=-2), centered(node, 3, 5, axis=-1))
    scale = dl.mul(_along(node, _scale(node, 1), a.rank - 2, a.rank), _along(node, _scale(node, 4), b.rank - 1, b.rank))
    return _requantized(node, product, scale, 6)


@importer("QLinearConv")
def import_qlinear_conv(node: NodeContext) -> ir.Value:
    """ConvInteger with a bias of i32, times x_scale * w_scale / y_scale, as bytes around y's zero point."""
    rank = type_of_value(node.value(0)).rank
    total = convolution(node, centered(node, 0, 2), centered(node, 3, 5, axis=0), node.optional_value(8))
    weights = _along(node, _scale(node, 4), 1, rank)
    return _requantized(node, total, dl.mul(_single(_scale(node, 1)), weights), 6)


def _requantized(node: NodeContext, total: ir.Value, scale: ir.Value, first: int) -> ir.Value:
    """Sums of i32 as bytes with the scale and zero point of inputs `first` and `first + 1`."""
    zero = node.value(first + 1)
    ratio = dl.div(scale, _single(_scale(node, first)))
    return _quantized(dl.mul(dl.cast(total, to="f32"), ratio), _single(zero), type_of_value(zero).dtype)


def _scale(node: NodeContext, index: int) -> ir.Value:
    """A scale in f32, in which ratios of scales are computed."""
    value = node.value(index)
    return value if type_of_value(value).dtype == "f32" else dl.cast(value, to="f32")


def _quantized(scaled: ir.Value, zero: ir.Value | None, dtype: str) -> ir.Value:
    """Floats as bytes: `dl.cast` saturates."""
    rounded = dl.round(scaled)
    if zero is not None:
        rounded = dl.add(rounded, dl.cast(zero, to=type_of_value(rounded).dtype))
    return dl.cast(rounded, to=dtype)


def _axis(node: NodeContext, rank: int) -> int:
    if node.attribute("block_size", 0):
        node.unsupported("scales of blocks (block_size) are not supported")
    return int(node.attribute("axis", 1)) % max(rank, 1)


def _single(value: ir.Value) -> ir.Value:
    """The one number of a tensor of rank 0 or 1, as a scalar."""
    return dl.squeeze(value, axes=[0]) if type_of_value(value).rank == 1 else value


def _along(node: NodeContext, value: ir.Value, axis: int, rank: int) -> ir.Value:
    """A scale or zero point as it broadcasts to a tensor of rank `rank`: for all elements, or one per index of `axis`."""
    kind = type_of_value(value)
    if kind.rank > 1:
        node.unsupported(f"scales and zero points of rank {kind.rank} are not supported")
    if kind.rank == 0 or kind.shape == (1,):
        return _single(value)
    return dl.unsqueeze(value, axes=list(range(1, rank - axis))) if rank - axis > 1 else value
