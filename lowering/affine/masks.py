"""Cuts a loop into steps of whole vectors and a tail, and masks the lanes that lie beyond its end."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir, vector
from dlc.lowering.affine.loops import Bound


@dataclass(frozen=True)
class Segment:
    """A part of a loop: from `lower` to `upper`, `slots` vectors a step; `masked` when lanes may lie beyond `upper`."""

    lower: Bound
    upper: Bound
    step: int
    slots: int
    masked: bool


def segments(upper: Bound, lanes: int, slots: int, dynamic_tail: bool = False) -> list[Segment]:
    """The parts of the loop from 0 to `upper` in vectors of `lanes`, `slots` at a time.

    A known extent ends in one step of as many vectors as are left. An unknown one, or any with `dynamic_tail`, ends
    in a loop of single vectors.
    """
    step = lanes * slots
    whole = upper.rounded_down(step)
    parts = [] if whole.static == 0 else [Segment(Bound.constant(0), whole, step, slots, False)]
    left = None if upper.static is None else upper.static % step
    if left == 0:
        return parts
    if left is None or dynamic_tail:
        exact = left is not None and left % lanes == 0
        return [*parts, Segment(whole, upper, lanes, 1, not exact)]
    return [*parts, Segment(whole, upper, step, -(-left // lanes), left % lanes != 0)]


def tail_masks(upper: Bound, iv: ir.Value, segment: Segment, lanes: int) -> list[ir.Value | None]:
    """The mask of each slot of `segment` at induction variable `iv`; None where all lanes are in range."""
    masks: list[ir.Value | None] = [None] * segment.slots
    if not segment.masked:
        return masks
    kind = ir.VectorType.get([lanes], ir.IntegerType.get_signless(1))
    if upper.static is not None and segment.lower.static is not None and segment.step >= upper.static - segment.lower.static:
        left = upper.static - segment.lower.static - lanes * (segment.slots - 1)
        masks[-1] = vector.ConstantMaskOp(kind, [left]).result if left < lanes else None
        return masks
    masks[-1] = vector.CreateMaskOp(kind, [upper.minus(iv, lanes * (segment.slots - 1))]).result
    return masks
