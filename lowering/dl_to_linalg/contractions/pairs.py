"""Lowering of products of pairs in bf16: a pair comes in an i32, low bits first."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.contraction import widened
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.contractions.dot_products import convolve_groups, multiply_groups
from dlc.lowering.vnni import HALF_BITS, PAIR, UPPER_HALF


@lowering("bf16_pairs")
def lower_bf16_pairs(b: Builder, op: SourceOp) -> ir.Value:
    """One generic that reads two rows; a row of zeros is added where their number is odd."""
    (x,) = op.operands
    *outer, rows, columns = b.shape(x)
    padded = b.pad(x, [0] * x.type.rank, [*[0] * len(outer), int(x.type.shape[-2]) % 2, 0], b.scalar(0, "f32"))
    shape = [*outer, b.extent("ceildiv", rows, 2), columns]
    rank = len(shape)
    *dims, group, column = (ir.AffineExpr.get_dim(loop) for loop in range(rank))
    reads = [ir.AffineMap.get(rank, 0, [*dims, group * 2 + place, column]) for place in (0, 1)]

    def body(low: ir.Value, high: ir.Value, _: ir.Value) -> ir.Value:
        raised = b.binary("arith.shli", _bits(b, high), b.scalar(HALF_BITS, "i32"))
        return b.binary("arith.ori", _bits(b, low), raised)

    maps = [*reads, ir.AffineMap.get_identity(rank)]
    return b.generic([padded, padded], b.empty(shape, "i32"), maps, [PARALLEL] * rank, body)


@lowering("pair_matmul")
def lower_pair_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any product of VNNI groups."""
    return multiply_groups(b, op, PAIR, "f32", lambda values, packed: _products(b, values, packed))


@lowering("pair_conv")
def lower_pair_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any convolution with VNNI groups."""
    return convolve_groups(b, op, PAIR, "f32", lambda values, packed: _products(b, values, packed))


def _products(b: Builder, values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
    """Products of f32, of which a bf16 number is the upper half, as `affine-use-dot-products` finds them again."""
    halves = b.binary("arith.shli", packed, b.scalar(HALF_BITS, "i32")), b.binary("arith.andi", packed, b.scalar(UPPER_HALF, "i32"))
    factors = [b.create("arith.bitcast", [b.element("f32")], [half]) for half in halves]
    pairs = zip(values, factors, strict=True)
    low, high = (b.arith("mul", widened(b, value, "f32"), factor, "f32") for value, factor in pairs)
    return b.arith("add", low, high, "f32")


def _bits(b: Builder, x: ir.Value) -> ir.Value:
    """The bits of an f32 scalar rounded to bf16, as an i32."""
    narrow = b.create("arith.bitcast", [ir.IntegerType.get_signless(HALF_BITS)], [b.narrow(x, "bf16")])
    return b.create("arith.extui", [b.element("i32")], [narrow])
