"""Loads of a window's tile: neighbouring elements of a row, or every second one, of which taps share vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dlc._mlir import affine, ir, vector
from dlc.lowering.affine.codegen.window_values import lane_mask, zero
from dlc.lowering.affine.ir.expressions import Linear, result_maps
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import apply
from dlc.lowering.affine.ir.values import splat_constant
from dlc.targets.machine import LINE_BYTES


class Once(Protocol):
    """Gives what the function emits, or what was emitted for an equal key where that is visible."""

    def __call__(self, key: object, make: Callable[[], ir.Value]) -> ir.Value: ...


@dataclass(frozen=True)
class WindowLoads:
    """Emits the loads of a tile of vectors of `lanes` at the insertion point."""

    lanes: int
    once: Once

    def load(
        self,
        op: ir.Operation,
        buffer: ir.Value,
        places: Sequence[Linear],
        stride: int,
        lanes: tuple[int, int],
        fill: ir.Attribute | None,
    ) -> ir.Value:
        """What the load `op` gives in a tile: one element for a stride of 0, else those `stride` (1 or 2) apart from `places` on.

        Elements outside of `lanes` are not touched, and read as `fill`.
        """
        element = op.results[0].type
        if stride == 0:
            indexing, operands = map_of(places)
            attributes = {"map": ir.AffineMapAttr.get(indexing)}
            return ir.Operation.create(
                "affine.load", results=[element], operands=[buffer, *operands], attributes=attributes
            ).results[0]
        kind = ir.VectorType.get([self.lanes], element)
        other = fill if fill is not None else zero(element)
        if stride == 1:
            return self._vector(kind, buffer, places, lanes, other)
        low = self._vector(kind, buffer, places, _elements(lanes, 0, self.lanes), other)
        high = self._vector(kind, buffer, self._next(places), _elements(lanes, self.lanes, self.lanes), other)
        return vector.ShuffleOp(low, high, list(range(0, 2 * self.lanes, 2))).result

    def share_vectors(self, op: ir.Operation, buffer: ir.Value, stride: int) -> bool:
        """Whether taps of a row share vectors: those that take every second element, or of which all but one read two lines.

        Rows of half a vector are mostly in one line.
        """
        is_line = self.lanes * (element_bits(op.results[0].type) or 0) >= 8 * LINE_BYTES
        return stride == 2 or (stride == 1 and is_line and 2 * ir.MemRefType(buffer.type).shape[-1] > self.lanes)

    def of_row(
        self, op: ir.Operation, buffer: ir.Value, places: Sequence[Linear], stride: int, fill: ir.Attribute | None
    ) -> ir.Value:
        """Elements of a row of known size, `stride` apart from `places` on, the last of which is a constant; outside it `fill`.

        They come out of vectors that begin at multiples of their width. Three taps of a row with steps of two come to the same two
        vectors, where each loaded two of its own: on one core of AVX-512, depthwise 3x3/2 of 144x56x56 takes 0.78 of the time,
        5x5/2 of 96x112x112 0.60; with AVX2 0.64 and 0.57. Neighbours: 3x3 of 144x56x56 takes 0.70 of the time, 5x5 of 96x56x56
        0.90; with AVX2 0.98 and 1.14.
        """
        element = op.results[0].type
        kind, other = ir.VectorType.get([self.lanes], element), fill if fill is not None else zero(element)
        size = stride * self.lanes
        start, rest = divmod(places[-1].constant, size)
        skipped, phase = divmod(rest, stride)
        near = self._phase(kind, buffer, (*places[:-1], Linear({}, start * size)), (stride, phase), other)
        if not skipped:
            return near
        far = self._phase(kind, buffer, (*places[:-1], Linear({}, (start + 1) * size)), (stride, phase), other)
        return vector.ShuffleOp(near, far, list(range(skipped, skipped + self.lanes))).result

    def _phase(
        self, kind: ir.VectorType, buffer: ir.Value, places: Sequence[Linear], phase: tuple[int, int], fill: ir.Attribute
    ) -> ir.Value:
        """The vector from `places` on, or the even elements (`phase` (2, 0)) or odd ones (2, 1) of two."""
        stride, first = phase
        if stride == 1:
            return self._line(kind, buffer, places, fill)

        def make() -> ir.Value:
            low, high = (self._line(kind, buffer, at, fill) for at in (places, self._next(places)))
            return vector.ShuffleOp(low, high, list(range(first, 2 * self.lanes, 2))).result

        return self.once(("phase", phase, *_key(buffer, places, fill)), make)

    def _line(self, kind: ir.VectorType, buffer: ir.Value, places: Sequence[Linear], fill: ir.Attribute) -> ir.Value:
        """The vector from `places` on, the last of which is a constant; `fill` for what is outside of the row."""
        start, extent = places[-1].constant, ir.MemRefType(buffer.type).shape[len(places) - 1]
        lanes = max(0, -start), min(self.lanes, extent - start)
        if lanes[0] >= lanes[1]:
            return self._filled(kind, fill)
        return self.once(("line", *_key(buffer, places, fill)), lambda: self._vector(kind, buffer, places, lanes, fill))

    def _next(self, places: Sequence[Linear]) -> Sequence[Linear]:
        return (*places[:-1], places[-1].plus(Linear({}, self.lanes)))

    def guarded(
        self, op: ir.Operation, buffer: ir.Value, places: Sequence[Linear], mask: ir.Value, fill: ir.Attribute | None
    ) -> ir.Value:
        """What the load `op` of neighbours gives in a tile for the lanes of `mask`; others are not touched, and read as `fill`."""
        element = op.results[0].type
        kind, other = ir.VectorType.get([self.lanes], element), fill if fill is not None else zero(element)
        return self._masked(kind, buffer, places, mask, other)

    def _vector(
        self, kind: ir.VectorType, buffer: ir.Value, places: Sequence[Linear], lanes: tuple[int, int], fill: ir.Attribute
    ) -> ir.Value:
        """The elements from `places` on; those outside `lanes` are not touched and read as `fill`."""
        indexing, operands = map_of(places)
        if lanes == (0, self.lanes):
            return affine.AffineVectorLoadOp(kind, buffer, operands, indexing).result
        mask = self.once(("mask", lanes), lambda: lane_mask(self.lanes, lanes))
        return self._masked(kind, buffer, places, mask, fill)

    def _masked(
        self, kind: ir.VectorType, buffer: ir.Value, places: Sequence[Linear], mask: ir.Value, fill: ir.Attribute
    ) -> ir.Value:
        indexing, operands = map_of(places)
        indices = [apply(single, operands) for single in result_maps(indexing)]
        return vector.MaskedLoadOp(kind, buffer, indices, mask, self._filled(kind, fill)).result

    def _filled(self, kind: ir.VectorType, fill: ir.Attribute) -> ir.Value:
        return self.once(("passed", fill), lambda: splat_constant(kind, fill))


def _key(buffer: ir.Value, places: Sequence[Linear], fill: ir.Attribute) -> tuple[object, ...]:
    return buffer, fill, tuple(place.key for place in places)


def _elements(lanes: tuple[int, int], skipped: int, width: int) -> tuple[int, int]:
    """Of a vector of `width` that starts `skipped` elements on, those that lie between the even ones for `lanes`."""
    first, last = 2 * lanes[0] - skipped, 2 * (lanes[1] - 1) + 1 - skipped
    return max(first, 0), max(min(last, width), 0)


def map_of(places: Sequence[Linear]) -> tuple[ir.AffineMap, list[ir.Value]]:
    """The affine map and the operands that give `places`."""
    operands: list[ir.Value] = []
    for place in places:
        operands.extend(value for value in place.factors if value not in operands)
    position = {value: index for index, value in enumerate(operands)}
    results = []
    for place in places:
        total: ir.AffineExpr = ir.AffineExpr.get_constant(place.constant)
        for value, factor in place.factors.items():
            total = ir.AffineExpr.get_dim(position[value]) * factor + total
        results.append(total)
    return ir.AffineMap.get(len(operands), 0, results), operands
