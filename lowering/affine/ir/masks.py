"""Cuts a loop into steps of whole vectors and a tail, and masks the lanes that lie beyond its end."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir, vector
from dlc.lowering.affine.ir.loops import Bound, apply


@dataclass(frozen=True)
class Segment:
    """A part of a loop: from `lower` to `upper`, `vectors` vectors a step; `masked` when lanes may lie beyond `upper`."""

    lower: Bound
    upper: Bound
    step: int
    vectors: int
    masked: bool


def segments(upper: Bound, lanes: int, vectors: int, dynamic_tail: bool = False, start: int = 0) -> list[Segment]:
    """The parts of the loop from `start`, a multiple of a step, to `upper` in vectors of `lanes`, `vectors` at a time.

    A known extent ends in one step of as many vectors as are left. An unknown one, or any with `dynamic_tail`, ends
    in a loop of single vectors.
    """
    step = lanes * vectors
    whole = upper.rounded_down(step)
    parts = [] if whole.static == start else [Segment(Bound.constant(start), whole, step, vectors, False)]
    left = None if upper.static is None else upper.static % step
    if left == 0 or upper.is_multiple_of(step):
        return parts
    if left is None or dynamic_tail:
        exact = upper.is_multiple_of(lanes)
        return [*parts, Segment(whole, upper, lanes, 1, not exact)]
    return [*parts, Segment(whole, upper, step, -(-left // lanes), left % lanes != 0)]


@dataclass(frozen=True)
class LaneMask:
    """The lanes that are in range: the first `count` of `lanes`, known or as an index."""

    lanes: int
    count: int | ir.Value

    def vector(self) -> ir.Value:
        """Emit the mask."""
        kind = ir.VectorType.get([self.lanes], ir.IntegerType.get_signless(1))
        if isinstance(self.count, int):
            return vector.ConstantMaskOp(kind, [max(0, min(self.count, self.lanes))]).result
        return vector.CreateMaskOp(kind, [self.count]).result

    def shared(self, count: int) -> LaneMask:
        """The mask of elements each of which is for `count` lanes."""
        lanes = self.lanes // count
        if isinstance(self.count, int):
            return LaneMask(lanes, -(-self.count // count))
        shared = ir.AffineExpr.get_ceil_div(ir.AffineDimExpr.get(0), count)
        return LaneMask(lanes, apply(ir.AffineMap.get(1, 0, [shared]), [self.count]))

    def spread(self, stride: int, skipped: int) -> LaneMask:
        """The mask of the elements from number `skipped` on, when the lanes in range lie `stride` elements apart."""
        if isinstance(self.count, int):
            return LaneMask(self.lanes, (self.count - 1) * stride + 1 - skipped)
        reach = (ir.AffineDimExpr.get(0) - 1) * stride + 1 - skipped
        return LaneMask(self.lanes, apply(ir.AffineMap.get(1, 0, [reach]), [self.count]))


def tail_masks(upper: Bound, iv: ir.Value, segment: Segment, lanes: int) -> list[LaneMask | None]:
    """The mask of each vector of `segment` at induction variable `iv`; None where all lanes are in range."""
    masks: list[LaneMask | None] = [None] * segment.vectors
    if not segment.masked:
        return masks
    before = lanes * (segment.vectors - 1)
    start, end = segment.lower.static, upper.static
    if start is not None and end is not None and end - start <= segment.step:
        left = end - start - before
        masks[-1] = LaneMask(lanes, left) if left < lanes else None
        return masks
    masks[-1] = LaneMask(lanes, upper.minus(iv, before))
    return masks
