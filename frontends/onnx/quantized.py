"""Importers of quantised numbers: conversions, and products and convolutions between them."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import SMALL_FLOATS, SMALL_INTS, STORAGE
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.conv import convolution
from dlc.frontends.onnx.elementwise import dtype_of_onnx
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.linear import centered, matmul
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.widening import as_computed

_INTEGERS = ("ui8", "i8", "ui16", "i16", *SMALL_INTS)
_QUANTISED = (*_INTEGERS, *SMALL_FLOATS)
"""Element types of quantised numbers."""


@importer("QuantizeLinear")
def import_quantize_linear(node: NodeContext) -> ir.Value:
    """saturate(round(x / scale) + zero point), halves to the even integer; floats round as `dl.cast` does."""
    x, scale = node.value(0), node.value(1)
    _require_zero_point_of_each_scale(node)
    axis, dtype = _axis(node, type_of_value(x).rank), _quantised_dtype(node)
    asked = dtype_of_onnx(node, node.attribute("precision")) if node.attribute("precision", 0) else None
    precision = asked or _float_of(type_of_value(scale).dtype)
    ratio = dl.div(_as(x, precision), _as(_spread(node, 1, axis), precision))
    if dtype in _INTEGERS:
        return _quantized(ratio, _spread(node, 2, axis) if node.has_input(2) else None, dtype)
    return dl.cast(ratio, to=dtype, saturate=bool(node.attribute("saturate", 1)))


def _float_of(scale: str) -> str:
    """The type that numbers are divided in for scales of a type: their own, but for integers and powers of two."""
    return scale if scale in FLOATS else "f32" if scale in STORAGE else "f64"


def _quantised_dtype(node: NodeContext) -> str:
    """The type of the result: that of the zero point, or the one that is asked for."""
    asked = dtype_of_onnx(node, node.attribute("output_dtype")) if node.attribute("output_dtype", 0) else None
    dtype = type_of_value(node.value(2)).dtype if node.has_input(2) else asked or "ui8"
    if dtype not in _QUANTISED or asked not in (None, dtype):
        shown = ", ".join(_QUANTISED)
        node.unsupported(f"quantised numbers of {dtype} are not supported where {asked or dtype} is asked for (supported: {shown})")
    return dtype


@importer("DequantizeLinear")
def import_dequantize_linear(node: NodeContext) -> ir.Value:
    """(x - zero point) * scale"""
    _require_zero_point_of_each_scale(node)
    x, scale = node.value(0), node.value(1)
    rank, stored = type_of_value(x).rank, type_of_value(x).dtype
    given = dtype_of_onnx(node, node.attribute("output_dtype")) if node.attribute("output_dtype", 0) else None
    dtype = given or _float_of(type_of_value(scale).dtype)
    axis, wide = _axis(node, rank), "f32" if stored in SMALL_FLOATS else "i32"
    whole = dl.cast(x, to=wide)
    known = node.constant(2) if node.has_input(2) else np.zeros((), np.int32)
    if known is None or len(np.unique(known.astype(NUMPY_DTYPES[wide]))) > 1:
        whole = dl.sub(whole, dl.cast(_spread(node, 2, axis), to=wide))
    elif known.astype(np.float32).any():
        whole = dl.sub(whole, node.constant_value(known.astype(NUMPY_DTYPES[wide]).reshape(-1)[0]))
    factor = as_computed(_spread(node, 1, axis))
    return _as(dl.mul(_as(whole, type_of_value(factor).dtype), factor), dtype)


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
    left, right = _along(node, node.value(1), a.rank - 2, a.rank), _along(node, node.value(4), b.rank - 1, b.rank)
    scale = dl.mul(_as(left, "f32"), _as(right, "f32"))
    return _requantized(node, product, scale, 6)


@importer("QLinearConv")
def import_qlinear_conv(node: NodeContext) -> ir.Value:
    """ConvInteger with a bias of i32, times x_scale * w_scale / y_scale, as bytes around y's zero point."""
    rank = type_of_value(node.value(0)).rank
    total = convolution(node, centered(node, 0, 2), centered(node, 3, 5, axis=0), node.optional_value(8))
    weights = _as(_along(node, node.value(4), 1, rank), "f32")
    return _requantized(node, total, dl.mul(_as(_single(node.value(1)), "f32"), weights), 6)


def _requantized(node: NodeContext, total: ir.Value, scale: ir.Value, first: int) -> ir.Value:
    """Sums of i32 as bytes with the scale and zero point of inputs `first` and `first + 1`."""
    zero = node.value(first + 1)
    ratio = dl.div(scale, _as(_single(node.value(first)), "f32"))
    return _quantized(dl.mul(dl.cast(total, to="f32"), ratio), _single(zero), type_of_value(zero).dtype)


def _quantized(scaled: ir.Value, zero: ir.Value | None, dtype: str) -> ir.Value:
    """Floats as integers: `dl.cast` saturates, but for those of 4 and 2 bits."""
    rounded = dl.round(scaled)
    if zero is not None:
        rounded = dl.add(rounded, dl.cast(zero, to=type_of_value(rounded).dtype))
    if dtype in SMALL_INTS:
        low = 0 if dtype.startswith("u") else -(1 << (SMALL_INTS[dtype] - 1))
        rounded = dl.clip(rounded, low=float(low), high=float(low + (1 << SMALL_INTS[dtype]) - 1))
    return dl.cast(rounded, to=dtype)


def _as(value: ir.Value, dtype: str) -> ir.Value:
    return value if type_of_value(value).dtype == dtype else dl.cast(value, to=dtype)


def _require_zero_point_of_each_scale(node: NodeContext) -> None:
    if not node.has_input(2):
        return
    scale, zero = node.type(1), node.type(2)
    if None not in (scale.num_elements, zero.num_elements) and scale.num_elements != zero.num_elements:
        node.unsupported(f"its zero point (input 2) is {zero} but its scale (input 1) is {scale}; give both one shape")


def _spread(node: NodeContext, index: int, axis: int) -> ir.Value:
    """Scales or zero points (input `index`) as they broadcast to input 0, those of blocks repeated along `axis`."""
    value, whole = node.value(index), node.type(0)
    size = int(node.attribute("block_size", 0))
    if not size:
        return _along(node, value, axis, whole.rank)
    blocks = type_of_value(value)
    length, count = whole.shape[axis], blocks.shape[axis] if blocks.rank == whole.rank else None
    if not isinstance(length, int) or count != -(-length // size):
        node.unsupported(f"blocks of {size} (block_size) need input {index} with a known number of blocks on axis {axis}")
    value = as_computed(value)
    repeats = [size if place == axis + 1 else 1 for place in range(whole.rank + 1)]
    repeated = dl.tile(dl.unsqueeze(value, axes=[axis + 1]), repeats=repeats)
    shape = [count * size if place == axis else -1 for place in range(whole.rank)]
    copied = [-1 if place == axis else place + (place > axis) for place in range(whole.rank)]
    joined = dl.reshape(repeated, shape=shape, copied=copied)
    return dl.slice(joined, axes=[axis], starts=[0], ends=[length], steps=[1]) if count * size != length else joined


def _axis(node: NodeContext, rank: int) -> int:
    """The axis of scales; where there is one for all, it may be any."""
    axis, scale = int(node.attribute("axis", 1)), node.type(1)
    if scale.num_elements != 1 and not -rank <= axis < rank:
        node.unsupported(f"axis {axis} of its scales (input 1) is out of range for rank {rank}")
    return axis % max(rank, 1)


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
