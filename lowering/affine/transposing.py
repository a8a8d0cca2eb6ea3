"""Transposes square tiles between vectors, and emits loop bodies whose loads run across the lanes that way."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir, vector
from dlc.lowering.affine.emitter import TileEmitter
from dlc.lowering.affine.expressions import shifted
from dlc.lowering.affine.lanes import LaneFacts, element_bits
from dlc.lowering.affine.loops import apply
from dlc.lowering.affine.masks import LaneMask
from dlc.lowering.affine.values import TileValues
from dlc.lowering.affine.vector_loads import Place, load_masked, load_vector

_BLOCK_BITS = 128
"""Within blocks of so many bits elements are interleaved by one cheap instruction; between blocks whole ones move."""


def transposed(rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Emit the transpose of a square tile: lane i of result j is lane j of `rows[i]`. The size is a power of two.

    Every stage is two-input shuffles that x86 and AArch64 have as one instruction each: unpack low and high halves within
    blocks of 128 bits, then even and odd blocks. A stage takes one bit of the lane number in exchange for one bit of the
    row number: unpacking puts the row bit lowest and takes the block's highest, choosing blocks puts it highest of all
    and takes the lowest of the block number. So the bits of a row end in order, and no rows change places at the end.
    """
    size = len(rows)
    kind = ir.VectorType(rows[0].type)
    bits = element_bits(kind.element_type) or _BLOCK_BITS
    block = min(size, max(1, _BLOCK_BITS // bits))
    unpacked = range(block.bit_length() - 1)
    chosen = range(block.bit_length() - 1, size.bit_length() - 1)
    current = list(rows)
    for bit in (*reversed(unpacked), *chosen):
        masks = _unpacking(size, block) if bit in unpacked else _choosing(size, block)
        for row in range(size):
            if not row >> bit & 1:
                pair = current[row], current[row | 1 << bit]
                current[row], current[row | 1 << bit] = (vector.ShuffleOp(*pair, mask).result for mask in masks)
    return current


def _unpacking(size: int, block: int) -> tuple[list[int], list[int]]:
    """Interleave the low halves of each block of two vectors, and the high halves."""
    low, high = [], []
    for start in range(0, size, block):
        for lane in range(start, start + block // 2):
            low += [lane, size + lane]
            high += [lane + block // 2, size + lane + block // 2]
    return low, high


def _choosing(size: int, block: int) -> tuple[list[int], list[int]]:
    """The even blocks of two vectors, and the odd ones."""
    starts = range(0, 2 * size, 2 * block)
    even = [lane for start in starts for lane in range(start, start + block)]
    return even, [lane + block for lane in even]


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
            place = Place(op.operands[0], tuple(operands), there, True)
            rows.append(self._row(kind, place, lane, count))
        rows += rows[-1:] * (values.lanes - len(rows))
        values.define(op.results[0], dims, transposed(rows)[:count], True)

    def _rows(self) -> int:
        return self.left if isinstance(self.left, int) else self.values.lanes

    def _row(self, kind: ir.VectorType, place: Place, lane: int, count: int) -> ir.Value:
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
