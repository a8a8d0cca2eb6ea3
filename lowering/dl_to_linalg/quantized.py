"""Lowering of products of bytes: four of them come in an i32, the lowest byte first."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.builder import Builder
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.word_products import convolve_words, multiply_words

_BYTES = 4


@lowering("byte_matmul")
def lower_byte_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any product of words."""
    return multiply_words(b, op, _BYTES, "i32", lambda values, packed: _products(b, values, packed))


@lowering("byte_conv")
def lower_byte_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any convolution with words."""
    return convolve_words(b, op, _BYTES, "i32", lambda values, packed: _products(b, values, packed))


def _products(b: Builder, values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
    """Products of a widened byte with a byte cut out of an i32, as `affine-use-dot-products` finds them again."""
    products = [b.arith("mul", _unsigned(b, value), _byte(b, packed, place), "i32") for place, value in enumerate(values)]
    low, high = (b.arith("add", products[start], products[start + 1], "i32") for start in (0, 2))
    return b.arith("add", low, high, "i32")


def _unsigned(b: Builder, value: ir.Value) -> ir.Value:
    return b.create("arith.extui", [b.element("i32")], [value])


def _byte(b: Builder, packed: ir.Value, place: int) -> ir.Value:
    """Byte `place` of an i32 as a signed number."""
    kind, top = b.element("i32"), 8 * (_BYTES - 1)
    if place < _BYTES - 1:
        packed = b.create("arith.shli", [kind], [packed, b.scalar(top - 8 * place, "i32")])
    return b.create("arith.shrsi", [kind], [packed, b.scalar(top, "i32")])
