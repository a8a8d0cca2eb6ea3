"""Values of a window's tile: those that padding decides before anything is emitted, and constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir, vector
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Bound
from dlc.lowering.affine.ir.values import splat_constant


@dataclass(frozen=True)
class Fill:
    """What padding holds, not yet emitted: a product with zero is zero, and a sum with it changes nothing."""

    value: ir.Attribute


@dataclass(frozen=True)
class Product:
    """A product that waits for the sum that it goes into."""

    op: ir.Operation
    lhs: ir.Value
    rhs: ir.Value


def fold(op: ir.Operation, operands: Sequence[object]) -> object | None:
    """The result of `op` where padding decides it; None otherwise."""
    fills = [operand for operand in operands if isinstance(operand, Fill)]
    if not fills:
        return None
    others = [operand for operand in operands if not isinstance(operand, Fill)]
    number = _number(fills[0].value)
    if op.name in ("arith.mulf", "arith.muli") and number == 0:
        return fills[0]
    if op.name in ("arith.addf", "arith.addi") and number == 0 and others:
        return others[0]
    if op.name == "arith.maximumf" and number == -float("inf") and others:
        return others[0]
    if op.name == "arith.extf" and number == 0:
        return Fill(ir.FloatAttr.get(op.results[0].type, 0.0))
    return None


def _number(value: ir.Attribute) -> float | int | None:
    if isinstance(value, ir.FloatAttr) or (isinstance(value, ir.IntegerAttr) and not isinstance(value.type, ir.IndexType)):
        return value.value
    return None


def zero(element: ir.Type) -> ir.Attribute:
    """0 of a float or integer type."""
    return ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)


def constant(value: ir.Attribute) -> ir.Value:
    """Emit `value`."""
    return ir.Operation.create("arith.constant", results=[value.type], attributes={"value": value}).results[0]


def splat(kind: ir.VectorType, scalar: ir.Value) -> ir.Value:
    """Emit the vector whose lanes are all `scalar`."""
    owner = scalar.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return vector.BroadcastOp(kind, scalar).result
    return splat_constant(kind, owner.attributes["value"])


def lane_mask(width: int, lanes: tuple[int, int]) -> ir.Value:
    """Emit the mask of `width` lanes that has those from the first of `lanes` up to, not including, the second."""
    boolean = ir.IntegerType.get_signless(1)
    bits = [ir.IntegerAttr.get(boolean, int(lanes[0] <= lane < lanes[1])) for lane in range(width)]
    return constant(ir.DenseElementsAttr.get(bits, ir.VectorType.get([width], boolean)))


def mask_within(width: int, last: int, places: Sequence[tuple[Linear, Bound]]) -> ir.Value:
    """Emit the mask of the first `last` of `width` lanes if each place is from 0 to below its bound, of none otherwise."""
    dims = list(dict.fromkeys(value for place, _ in places for value in place.factors))
    symbols = [value for _, bound in places for value in bound.operands]
    counts: list[ir.AffineExpr] = [ir.AffineExpr.get_constant(last)]
    first = 0
    for place, bound in places:
        at: ir.AffineExpr = ir.AffineExpr.get_constant(place.constant)
        for value, factor in place.factors.items():
            at = ir.AffineExpr.get_dim(dims.index(value)) * factor + at
        own = [ir.AffineExpr.get_symbol(first + position) for position in range(len(bound.operands))]
        counts += [(at + 1) * last, (substitute(bound.map.results[0], [], own) - at) * last]
        first += len(own)
    count = affine.AffineMinOp(ir.AffineMap.get(len(dims), len(symbols), counts), [*dims, *symbols]).result
    return vector.CreateMaskOp(ir.VectorType.get([width], ir.IntegerType.get_signless(1)), [count]).result
