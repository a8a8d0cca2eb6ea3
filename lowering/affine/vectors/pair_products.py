"""Recognises two multiply-adds of bf16 numbers on vectors of f32, as the lowering of dl.vnni_matmul writes them."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.affine.vectors.byte_products import Dot, combined_with, operands_of, owner_of
from dlc.lowering.vnni import HALF_BITS, UPPER_HALF


def pair_dot_of(op: ir.Operation) -> Dot | None:
    """The multiply-adds that `op` completes, None where it is none: fma(a1, high half of w, fma(a0, low half of w, sum))."""
    if op.name != "vector.fma" or not isinstance(ir.VectorType(op.results[0].type).element_type, ir.F32Type):
        return None
    start = owner_of(op.operands[2])
    if start is None or start.name != "vector.fma" or len(list(start.results[0].uses)) != 1:
        return None
    low = _pair(start, 0)
    high = _pair(op, 1) if low else None
    if low is None or high is None or low[1] != high[1]:
        return None
    return Dot(op, start, 2, (low[0], high[0]), low[1])


def _pair(product: ir.Operation, place: int) -> tuple[ir.Value, ir.Value] | None:
    """The bf16 number that the multiply-add `product` widens, and the groups whose half `place` it is multiplied with."""
    for spread, lanes in (list(product.operands)[:2], list(product.operands)[1::-1]):
        scalar = operands_of(spread, "vector.broadcast")
        narrow = operands_of(scalar[0], "arith.extf") if scalar else None
        packed = _packed(lanes, place) if narrow else None
        if narrow is not None and packed is not None and isinstance(narrow[0].type, ir.BF16Type):
            return narrow[0], packed
    return None


def _packed(value: ir.Value, place: int) -> ir.Value | None:
    """The groups whose half `place` `value` is."""
    bits = operands_of(value, "arith.bitcast")
    if not bits:
        return None
    return combined_with(bits[0], "arith.shli", HALF_BITS) if place == 0 else combined_with(bits[0], "arith.andi", UPPER_HALF)
