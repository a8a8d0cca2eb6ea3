"""Emits loop bodies whose loads run across the lanes: square tiles are read along their rows and transposed between vectors."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.affine.codegen.emitter import TileEmitter
from dlc.lowering.affine.codegen.vector_loads import VectorAddress, load_masked, load_vector
from dlc.lowering.affine.ir.expressions import shifted
from dlc.lowering.affine.ir.lanes import LaneFacts
from dlc.lowering.affine.ir.loops import apply
from dlc.lowering.affine.ir.masks import LaneMask
from dlc.lowering.affine.ir.shuffles import transposed
from dlc.lowering.affine.ir.values import TileValues


class TransposingEmitter(TileEmitter):
    """A `TileEmitter` on square tiles: as many copies along the dimension `across` as a vector has lanes, or fewer at an end.

    The loads whose results are `loads` are contiguous along `across`. They are read as one vector for each lane, and
    transposed.
    """

    def __init__(self, values: TileValues, facts: LaneFacts, loads: Sequence[ir.Value], across: int) -> None:
        super().__init__(values, facts)
        self.loads = loads
        self.across = across
        mask = values.masks[0]
        self.left = values.lanes if mask is None else mask.count
        """The lanes that are in range."""

    def _load(self, op: ir.Operation) -> None:
        if not any(op.results[0] == load for load in self.loads):
            super()._load(op)
            return
        values, subscripts = self.values, list(op.operands)[1:]
        lane_dim = values.lane_dim
        assert lane_dim is not None
        dims = [dim for dim in values.dims_of(subscripts) if dim != lane_dim]
        count = values.dims[self.across].count
        kind = values.vector_type(op.results[0].type)
        first = dict.fromkeys(range(len(values.dims)), 0)
        new_map, operands = values.subscripts(subscripts, op.attributes["map"].value, first)
        rows = []
        for lane in range(self._rows()):
            there = shifted(new_map, values.lane_offset(subscripts, lane))
            place = VectorAddress(op.operands[0], tuple(operands), there, True)
            rows.append(self._row(kind, place, lane, count))
        rows += rows[-1:] * (values.lanes - len(rows))
        values.define(op.results[0], dims, transposed(rows)[:count], True)

    def _rows(self) -> int:
        return self.left if isinstance(self.left, int) else self.values.lanes

    def _row(self, kind: ir.VectorType, place: VectorAddress, lane: int, count: int) -> ir.Value:
        """The vector at lane `lane`, of which `count` elements count; none is read where the lane is out of range."""
        lanes = self.values.lanes
        mask = LaneMask(lanes, count) if count < lanes else None
        if isinstance(self.left, int) or lane == 0:
            return load_vector(kind, place, mask)
        reach = (ir.AffineDimExpr.get(0) - lane) * lanes
        wanted = LaneMask(lanes, apply(ir.AffineMap.get(1, 0, [reach]), [self.left])).vector()
        if mask is not None:
            wanted = ir.Operation.create("arith.andi", results=[wanted.type], operands=[wanted, mask.vector()]).results[0]
        return load_masked(kind, place, wanted)
