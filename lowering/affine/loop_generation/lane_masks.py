"""Masks of vectors that a loop fills only in part."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import affine, arith, ir, vector
from dlc.lowering.affine.ir.affine_builder import AffineScope


def lane_mask(
    scope: AffineScope, width: int, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], location: ir.Location
) -> ir.Value:
    """The lanes from the largest of `lower` on, from the first where there is none, and below the least of `upper`."""
    kind = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    end = upper[0].maybe_downcast()
    if len(upper) == 1 and not lower and isinstance(end, ir.AffineConstantExpr):
        bits = [ir.BoolAttr.get(lane < end.value) for lane in range(width)]
        return arith.ConstantOp(kind, ir.DenseElementsAttr.get(bits, kind), loc=location).result
    map, operands = scope.map(upper)
    mask = vector.create_mask(kind, [affine.AffineMinOp(map, operands, loc=location).result], loc=location)
    if not lower:
        return mask
    map, operands = scope.map(lower)
    before = vector.create_mask(kind, [affine.AffineMaxOp(map, operands, loc=location).result], loc=location)
    ones = arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, ir.BoolAttr.get(True)), loc=location).result
    return arith.andi(mask, arith.xori(before, ones, loc=location), loc=location)


def begins_whole(lower: Sequence[ir.AffineExpr], lanes: int) -> bool:
    """Whether a loop with these lower bounds begins at the first lane of a vector."""
    first = lower[0].maybe_downcast()
    return len(lower) == 1 and isinstance(first, ir.AffineConstantExpr) and first.value % lanes == 0
