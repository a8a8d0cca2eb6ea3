"""Lowering of products of bytes: four of them, or two numbers of i16, come in an i32, the lowest bits first."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.contractions.dot_products import convolve_groups, multiply_groups
from dlc.lowering.vnni import PAIR, QUAD

_BITS = 32


@lowering("byte_matmul")
def lower_byte_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any product of VNNI groups."""
    return multiply_groups(b, op, _count(op), "i32", lambda values, packed: integer_products(b, values, packed))


@lowering("byte_conv")
def lower_byte_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any convolution with VNNI groups."""
    return convolve_groups(b, op, _count(op), "i32", lambda values, packed: integer_products(b, values, packed))


def _count(op: SourceOp) -> int:
    """Numbers of the weights in a VNNI group."""
    return PAIR if op.types[0].dtype == "i16" else QUAD


def integer_products(b: Builder, values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
    """Products of widened numbers with those cut out of an i32, as `affine-use-dot-products` finds them again.

    Four values are unsigned bytes, two are of i16.
    """
    widen = "arith.extui" if len(values) == QUAD else "arith.extsi"
    wide = [b.create(widen, [b.element("i32")], [value]) for value in values]
    sums = [b.arith("mul", value, _part(b, packed, place, len(values)), "i32") for place, value in enumerate(wide)]
    while len(sums) > 1:
        sums = [b.arith("add", low, high, "i32") for low, high in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def _part(b: Builder, packed: ir.Value, place: int, count: int) -> ir.Value:
    """Number `place` of the `count` of an i32, with its sign."""
    kind, width = b.element("i32"), _BITS // count
    top = _BITS - width
    if place < count - 1:
        packed = b.create("arith.shli", [kind], [packed, b.scalar(top - width * place, "i32")])
    return b.create("arith.shrsi", [kind], [packed, b.scalar(top, "i32")])
