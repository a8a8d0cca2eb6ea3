"""Lowerings of elementwise ops: one `linalg.generic` with the scalar formula."""

from __future__ import annotations

from collections.abc import Callable

from dlc._mlir import ir
from dlc.dialects.dl.types import FLOATS
from dlc.lowering.dl_to_linalg.builder import Builder
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering


def lower_elementwise(b: Builder, op: SourceOp, body: Callable[..., ir.Value]) -> ir.Value:
    """Broadcast all operands and apply `body` to scalars of the operands' dtypes (f16 and bf16 widened to f32).

    `body` returns a scalar of the result's dtype, or f32 where that is f16 or bf16.
    """
    extents = b.broadcast_extents(op.operands, op.types)
    values = [b.expand_ones(value, kind, extents, op.result) for value, kind in zip(op.operands, op.types, strict=True)]

    def widened(*scalars: ir.Value) -> ir.Value:
        wide = [b.widen(scalar, kind.dtype) for scalar, kind in zip(scalars, op.types, strict=True)]
        return b.narrow(body(*wide), op.result.dtype)

    return b.map(values, extents, op.result.dtype, widened)


@lowering("relu")
def lower_relu(b: Builder, op: SourceOp) -> ir.Value:
    """max(x, 0) as compare and select: one vmaxps that keeps NaN, where arith.maximumf costs three instructions."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        zero = b.scalar(0, dtype)
        if dtype in FLOATS:
            return b.select(b.compare("gt", zero, x, dtype), zero, x)
        return b.arith("max", x, zero, dtype)

    return lower_elementwise(b, op, body)


@lowering("add")
def lower_binary(b: Builder, op: SourceOp) -> ir.Value:
    """Ops that are one arith op: the op's name is its key."""
    dtype = b.wide(op.result.dtype)
    return lower_elementwise(b, op, lambda lhs, rhs: b.arith(op.name.removeprefix("dl."), lhs, rhs, dtype))
