"""Copies between orders of axes move square tiles through registers."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.codegen.emitter import TileEmitter, copy_loop
from dlc.lowering.affine.codegen.streaming import streamed_bytes
from dlc.lowering.affine.codegen.transposing import TransposingEmitter
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.cost.set_conflicts import lines_in_set, ways_of
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.lanes import LaneFacts, NoLanesError, analyse_lanes, element_bits, lane_stride, widest_element
from dlc.lowering.affine.ir.loops import SCHEDULE, Bound, Loop, build_for
from dlc.lowering.affine.ir.masks import segments, tail_masks
from dlc.lowering.affine.ir.nests import Nest, nests_of
from dlc.lowering.affine.ir.tile import Tile, tile_at
from dlc.lowering.affine.ir.values import TileDim, TileValues
from dlc.lowering.affine.schedule.given_tiles import leave_tile
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of

_Stride = Callable[[ir.Operation, Loop], "int | None"]


@dataclass(frozen=True)
class AffineTransposeTiles(Pass):
    """Turn nests that load along one loop and store along another into square tiles, transposed in registers.

    before: affine.for %i = 0 to 640 { affine.for %j = 0 to 48 { load x[%j, %i]; negf; store y[%i, %j] } }
    after:  affine.for %i0 = 0 to 640 step 32 {
              affine.for %j = 0 to 48 step 16 { affine.for %i = %i0 to min(%i0 + 32, 640) step 16 {
                16 vector loads of x[%j + 0 ... %j + 15, %i]; 4 stages of shuffles
                for each of 16 rows: negf on vectors, vector store to y[%i + 0 ... %i + 15, %j] } } }

    Every store and every other load must be contiguous or fixed along the loop of the stores. Ends are masked; rows that are
    left over of a dynamic number are done one by one. A nest whose outermost loop carries a `dlc.schedule` of the code
    generator `transpose` is cut as that says (`lane_loop`, `lanes`, and the other loop in `unroll_and_jam`), any other stays.
    """

    anchor = "func.func"

    vector_bits: int = option(0, "bits of a vector register; 0: this machine's")

    def run(self, op: ir.Operation) -> None:
        """Transpose in the nests of one function."""
        limits, facts = TileLimits.of(op, self.vector_bits), facts_of(op)
        for nest in nests_of(op):
            transpose = _given(nest) if SCHEDULE in nest.top.attributes else _found(nest, limits.vector_bits)
            if transpose is not None:
                _Transposer(nest, transpose, _rows_in_turn(nest, transpose, facts)).emit()


@dataclass(frozen=True)
class _Transpose:
    """Stores are contiguous along `lane_loop`, the loads whose results are `loads` along `across`; tiles have `size` rows."""

    lane_loop: Loop
    across: Loop
    loads: tuple[ir.Value, ...]
    facts: LaneFacts
    size: int


def _given(nest: Nest) -> _Transpose | None:
    """What the schedule on `nest` says, None when that is of another code generator; `PassFailure` where it does not fit."""
    tile = tile_at(nest.top)
    if tile is None or tile.code_generator != "transpose":
        return None
    places = [tile.lane_loop, *(place for place, _ in tile.unroll_and_jam)]
    if len(places) != 2 or any(not 0 <= place < len(nest.band) for place in places) or tile.lanes not in (4, 8, 16):
        raise PassFailure(
            nest.top, "the schedule does not name two parallel loops and 4, 8 or 16 lanes", "change it, or leave it out"
        )
    transpose = _transpose(nest, nest.band[places[0]], nest.band[places[1]], tile.lanes, _stride)
    if transpose is None:
        raise PassFailure(
            nest.top, "the nest does not load along one of the schedule's loops and store along the other", "leave it out"
        )
    return transpose


def _found(nest: Nest, vector_bits: int) -> _Transpose | None:
    """The transpose that `nest` is: the one with the most lanes of its stores; None when it is none, or one too small to pay."""
    if nest.inner_loops:
        return None
    size = min(policy().memory.largest_transpose, vector_bits // widest_element(nest.body))
    if size < policy().memory.smallest_transpose:
        return None
    stride = functools.cache(_stride)
    pairs = [(lane_loop, across) for lane_loop in nest.band for across in nest.band]
    found = [transpose for lane_loop, across in pairs if (transpose := _transpose(nest, lane_loop, across, size, stride))]
    return next((transpose for transpose in found if all(_is_long(loop) for loop in (transpose.lane_loop, transpose.across))), None)


def _is_long(loop: Loop) -> bool:
    return loop.extent is None or loop.extent >= policy().memory.smallest_transpose


def _transpose(nest: Nest, lane_loop: Loop, across: Loop, size: int, stride: _Stride) -> _Transpose | None:
    """`nest` as a transpose along two of its loops, None when it is not one; `stride` is `_stride`."""
    if lane_loop is across or nest.inner_loops:
        return None
    loads = [op for op in nest.body if op.name == "affine.load" and stride(op, lane_loop) not in (0, 1)]
    if not loads or any(stride(op, across) != 1 or _is_bool(op) for op in loads):
        return None
    results = tuple(op.results[0] for op in loads)
    others = [op for op in nest.body if not any(op == load for load in loads)]
    try:
        facts = analyse_lanes(others, lane_loop.iv, varying=results)
    except NoLanesError:
        return None
    return _Transpose(lane_loop, across, results, facts, size) if facts.maskable else None


def _stride(op: ir.Operation, loop: Loop) -> int | None:
    """Elements between what two neighbouring iterations of `loop` load; None when it is not known."""
    try:
        return lane_stride(op, LaneFacts(loop.iv, {loop.iv}))
    except NoLanesError:
        return None


def _is_bool(op: ir.Operation) -> bool:
    return bool(op.results[0].type == ir.IntegerType.get_signless(1))


def _rows_in_turn(nest: Nest, transpose: _Transpose, facts: Machine) -> int:
    """The rows of the target to write in turn: fewer where their lines fall into the same sets of the nearest cache.

    Tiles may fill a third more lines at once than a set has ways. With 12 ways, 4096x128 of f32, whose rows are 16 KiB apart, takes
    105 us with 16 rows and 150 with 32; AVX2, which writes half lines, takes 99 with 8 rows, 167 with 16 and 338 with 32. Where
    rows of the source fall into one set, too, a tile reads whole lines of them: 2048x1024 by AVX2 takes 1.9 ms with 8 rows and 0.9
    with 16. Past the caches more rows are always better: by AVX-512 it takes 910 us with 16 rows, 548 with 32 and 425 with 64.
    """
    stores = [(op, op.operands[1].type) for op in nest.body if op.name == "affine.store"]
    loads = [(value.owner, value.owner.operands[0].type) for value in transpose.loads]
    pitches = [_pitch(op, ir.MemRefType(kind), transpose.across) for op, kind in stores]
    source = [_pitch(op, ir.MemRefType(kind), transpose.lane_loop) for op, kind in loads]
    if None in pitches or None in source:
        return policy().memory.unknown_transposed_rows
    ways = ways_of(facts.l1_bytes)
    has_set_conflicts = any(lines_in_set(transpose.size, pitch or 0) >= ways for pitch in source)
    widths = [element_bits(ir.MemRefType(kind).element_type) or 0 for _, kind in stores]
    fills = all(transpose.size * bits >= 8 * facts.line_bytes for bits in widths)
    fills = fills and all((pitch or 0) % facts.line_bytes == 0 for pitch in pitches)
    if has_set_conflicts and fills and any(_is_streamed(ir.MemRefType(kind), facts) for _, kind in stores):
        return policy().memory.transposed_rows
    most = ways * 4 // 3 if fills else ways
    least = (
        min(policy().memory.transposed_rows, facts.line_bytes * 8 // widest_element(nest.body))
        if has_set_conflicts
        else transpose.size
    )
    counts = [rows for rows in (policy().memory.transposed_rows, 32, 16, 8) if rows % transpose.size == 0 and rows >= least]
    return next((rows for rows in counts if all(lines_in_set(rows, pitch or 0) <= most for pitch in pitches)), counts[-1])


def _pitch(op: ir.Operation, kind: ir.MemRefType, loop: Loop) -> int | None:
    """Bytes between what two neighbouring iterations of `loop` load or store; None when they are not known."""
    stride, bits = stride_along(op, loop.iv), element_bits(kind.element_type)
    return None if stride is None or bits is None else abs(stride) * bits // 8


def _is_streamed(kind: ir.MemRefType, facts: Machine) -> bool:
    bits = element_bits(kind.element_type) or 0
    return kind.has_static_shape and math.prod(kind.shape) * bits >= 8 * streamed_bytes(facts)


class _Transposer:
    """Builds the tiled form of one nest in its place, with so many rows of the target in turn."""

    def __init__(self, nest: Nest, transpose: _Transpose, rows: int) -> None:
        self.nest = nest
        self.transpose = transpose
        self.rows = rows
        self.values = TileValues(dims=[], lanes=transpose.size)

    def emit(self) -> None:
        """Emit the loops before the nest and erase it."""
        top = self.nest.top
        around = [loop for loop in self.nest.band if loop is not self.transpose.lane_loop and loop is not self.transpose.across]
        with ir.InsertionPoint(top), top.location:
            made = self._levels(around)
        leave_tile(made, self.nest, self._tile())
        top.erase()

    def _tile(self) -> Tile:
        lane_loop, across = (self.nest.band.index(loop) for loop in (self.transpose.lane_loop, self.transpose.across))
        return Tile("transpose", lane_loop, self.transpose.size, unroll_and_jam=((across, self.transpose.size),))

    def _levels(self, around: Sequence[Loop]) -> ir.Operation:
        """Emit the loops `around` and the tiles in them; returns the first loop made."""
        if not around:
            return self._tiles()
        made = copy_loop(around[0], self.values)
        with self._inside(made):
            self._levels(around[1:])
        return made

    def _tiles(self) -> ir.Operation:
        """Whole tiles along `across`, in blocks, then what is left; returns the first loop."""
        upper, size = self.transpose.across.upper, self.transpose.size
        whole = upper.rounded_down(size)
        made = []
        if whole.static is not None and whole.static <= self.rows:
            made += self._columns(Bound.constant(0), whole, size) if whole.static else []
        else:
            blocks = build_for(Bound.constant(0), whole, self.rows, parallel=True)
            made.append(blocks)
            with self._inside(blocks):
                start = blocks.regions[0].blocks[0].arguments[0]
                self._columns(Bound(ir.AffineMap.get_identity(1), (start,)), _at_most(whole, start, self.rows), size)
        if upper.static is None:
            if not upper.is_multiple_of(size):
                self._single_rows(whole, upper)
        elif upper.static % size:
            made += self._columns(whole, upper, upper.static % size)
        return made[0]

    def _columns(self, lower: Bound, upper: Bound, count: int) -> list[ir.Operation]:
        """The tiles between `lower` and `upper` along `across`, `count` rows each, for all of the lane loop."""
        made, values, lanes = [], self.values, self.transpose.size
        for segment in segments(self.transpose.lane_loop.upper, lanes, 1):
            loop = build_for(segment.lower, segment.upper, lanes, parallel=True)
            made.append(loop)
            iv = loop.regions[0].blocks[0].arguments[0]
            with self._inside(loop):
                values.masks = tail_masks(self.transpose.lane_loop.upper, iv, segment, lanes)
                rows = build_for(lower, upper, lanes, parallel=True)
                start = rows.regions[0].blocks[0].arguments[0]
                values.dims = [TileDim(self.transpose.across.iv, start, count), TileDim(self.transpose.lane_loop.iv, iv, 1, lanes)]
                values.lane_dim = 1
                with self._inside(rows):
                    TransposingEmitter(values, self.transpose.facts, self.transpose.loads, across=0).ops(self.nest.body)
                values.dims, values.lane_dim, values.masks = [], None, ()
        return made

    def _single_rows(self, lower: Bound, upper: Bound) -> None:
        """The rows that are left of a dynamic number, element by element."""
        across = build_for(lower, upper, parallel=True)
        self.values.define(self.transpose.across.iv, (), [across.regions[0].blocks[0].arguments[0]], False)
        with self._inside(across):
            elements = copy_loop(self.transpose.lane_loop, self.values)
            with self._inside(elements):
                TileEmitter(self.values, None).ops(self.nest.body)
        del self.values.entries[self.transpose.across.iv], self.values.entries[self.transpose.lane_loop.iv]

    @contextlib.contextmanager
    def _inside(self, loop: ir.Operation) -> Iterator[None]:
        """Emit into the body of `loop`, and terminate it."""
        with ir.InsertionPoint(loop.regions[0].blocks[0]):
            self.values.enter_body()
            yield
            affine.AffineYieldOp([])
            self.values.leave_body()


def _at_most(upper: Bound, start: ir.Value, distance: int) -> Bound:
    """The smaller of `start + distance` and `upper`."""
    dims = upper.map.n_dims
    results = [ir.AffineDimExpr.get(dims) + distance, upper.map.results[0]]
    operands = (*upper.operands[:dims], start, *upper.operands[dims:])
    return Bound(ir.AffineMap.get(dims + 1, upper.map.n_symbols, results), operands)
