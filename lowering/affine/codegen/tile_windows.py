"""Sums and maxima over sliding windows become tiles of positions whose taps share their loads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.lowering.affine.codegen.window_emitter import Place, TileAxis, WindowEmitter
from dlc.lowering.affine.codegen.windows import Windows, cuts, few_borders, windows_of
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.forwarding import remove_unread_buffers
from dlc.lowering.affine.ir.lanes import widest_element
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for
from dlc.lowering.affine.ir.nests import Nest, nests_of
from dlc.lowering.affine.ir.padding import PaddedCopy, padded_copies
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.given_tiles import given_tile, leave_tile
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy

_GENERATOR = "windows"


def choose_tile(windows: Windows, lanes: int, machine: TileLimits) -> Tile:
    """The tile for `windows`, by the positions that its accumulators can stand for, and by where rows lie in the caches."""
    vectors, unroll_and_jam, order = _row_tile(windows, lanes) if windows.lanes_slide else _channel_tile(windows, lanes, machine)
    place = windows.nest.band.index
    jammed = tuple((place(loop), count) for loop, count in unroll_and_jam if loop.extent is not None)
    return Tile(_GENERATOR, place(windows.lane_loop), lanes, vectors, jammed, tuple(place(loop) for loop in order))


_Chosen = tuple[int, Sequence[tuple[Loop, int]], Sequence[Loop]]
"""Vectors, the copies of each loop to unroll and jam, which stays a loop of single steps where its extent is not known, and the
loops from the outside in."""


def _row_tile(windows: Windows, lanes: int) -> _Chosen:
    """A row as lanes: up to four vectors of it, by as many rows as give each sum time to end."""
    band = windows.nest.band
    slid = [loop for loop in band if loop.iv in windows.slid and loop is not windows.lane_loop]
    vectors = balanced(-(-(windows.lane_loop.extent or 1) // lanes), policy().tiles.row_vectors)
    order = (*(loop for loop in band if loop is not windows.lane_loop), windows.lane_loop)
    rows = balanced(slid[-1].extent or 1, policy().tiles.window_copies // vectors) if slid else 1
    return vectors, ((slid[-1], rows),) if rows > 1 else (), order


def _channel_tile(windows: Windows, lanes: int, machine: TileLimits) -> _Chosen:
    """Channels as lanes: two rows by a few columns, since two neighbours share most of the rows that they read.

    Where rows are few and most of them are at a border, tiles of one row by up to seven columns need less code.
    """
    band = windows.nest.band
    slid = [loop for loop in band if loop.iv in windows.slid and loop is not windows.lane_loop]
    vectors = min(-(-(windows.lane_loop.extent or 1) // lanes), 2)
    order = _channel_order(windows, machine)
    if len(slid) < 2 or not _has_inner_rows(windows, slid[-2]):
        columns = balanced(slid[-1].extent or 1, (machine.registers // 2 - 2) // vectors)
        return vectors, ((slid[-1], columns),), order
    if math.prod(loop.extent or 1 for loop in windows.taps) > policy().tiles.few_taps:
        vectors = 1
    columns = balanced(slid[-1].extent or 1, max(1, policy().tiles.window_copies // (policy().tiles.window_rows * vectors)))
    return vectors, ((slid[-2], policy().tiles.window_rows), (slid[-1], columns)), order


def _has_inner_rows(windows: Windows, loop: Loop) -> bool:
    """Whether most of the tiles along `loop` read no padding."""
    begin, end = windows.safe(loop)
    inner = end // policy().tiles.window_rows - -(-begin // policy().tiles.window_rows)
    return 2 * inner > -(-(loop.extent or 0) // policy().tiles.window_rows)


def _channel_order(windows: Windows, machine: TileLimits) -> tuple[Loop, ...]:
    """Channels go outermost where the rows that a tile reads, all channels of them, fall out of the first cache.

    Images beyond a share of the second cache are read in the order of memory all the same: 112x112x96 takes 344 us against 264.
    """
    band = windows.nest.band
    outer = next(loop for loop in band if loop.iv in windows.slid)
    tap = next(loop for loop in windows.taps if loop.iv in windows.slid[outer.iv])
    row, tap_row = _most_bytes(windows, outer), _most_bytes(windows, tap)
    fits_first = (
        row * (policy().tiles.window_rows - 1) + tap_row * (tap.extent or 1)
        <= policy().tiles.window_row_caches * machine.caches.l1_bytes
    )
    fits_second = row * (outer.extent or 1) <= policy().blocks.quarter_share * machine.caches.l2_bytes
    if fits_first or not fits_second:
        return band
    return (windows.lane_loop, *(loop for loop in band if loop is not windows.lane_loop))


def _most_bytes(windows: Windows, loop: Loop) -> int:
    """The way that an iteration of `loop` is in an image that the windows slide over."""
    ways = [(stride_along(slide.op, loop.iv) or 0) * slide.op.results[0].type.width // 8 for slide in windows.slides]
    return max(ways)


def _require_known(windows: Windows, tile: Tile) -> None:
    """`PassFailure` where windows cannot be cut as `tile`, which fits the nest, asks for."""
    if any(loop.extent is None for loop, _ in windows.nest.unroll_and_jam(tile)):
        raise PassFailure(
            windows.nest.top, "a loop of windows to unroll and jam has an unknown extent", "unroll and jam another loop"
        )


def balanced(extent: int, most: int) -> int:
    """Iterations of each tile when `extent` is cut into as few even tiles of up to `most` as possible."""
    return -(-extent // -(-extent // max(1, most)))


@dataclass
class _Tiler:
    """Builds the loops of one nest over windows, from the outside in."""

    windows: Windows
    tile: Tile
    made: list[ir.Operation] = field(default_factory=list)
    places: dict[ir.Value, Place] = field(default_factory=dict)
    axes: list[TileAxis] = field(default_factory=list)

    @cached_property
    def rolled(self) -> Loop | None:
        """The outermost reduction loop, if several are and the positions that it slides over are taken one at a time."""
        first, tiled = self.windows.taps[0], {loop.iv for loop in self.windows.nest.steps(self.tile)}
        sliding = {iv for iv, taps in self.windows.slid.items() if first.iv in taps}
        return first if len(self.windows.taps) > 1 and not sliding & tiled else None

    @cached_property
    def steps(self) -> dict[Loop, int]:
        """Iterations that a tile takes of the loops that it cuts."""
        return self.windows.nest.steps(self.tile)

    def levels(self, loops: Sequence[Loop]) -> None:
        """Emit `loops`, then the body."""
        if not loops:
            lane_axis = next(index for index, axis in enumerate(self.axes) if axis.iv == self.windows.lane_loop.iv)
            emitter = WindowEmitter(self.windows, self.tile.lanes, list(self.axes), lane_axis, dict(self.places), self.rolled)
            emitter.ops(self.windows.nest.body)
            return
        loop, rest = loops[0], loops[1:]
        step = self._step(loop)
        if step is None:
            made = self._build(Bound.constant(0), loop.upper, 1)
            self._inside(made, loop, (made.regions[0].blocks[0].arguments[0], 0), 1, rest)
            return
        for begin, end, count in cuts(loop.extent or 0, step, self.safe(loop)):
            if end - begin == count:
                self._with_axis(loop, (None, begin), count, rest)
                continue
            made = self._build(Bound.constant(begin), Bound.constant(end), step)
            self._inside(made, loop, (made.regions[0].blocks[0].arguments[0], 0), count, rest)

    def _build(self, lower: Bound, upper: Bound, step: int) -> ir.Operation:
        made = build_for(lower, upper, step, parallel=True)
        self.made.append(made)
        return made

    def leave_tile(self) -> None:
        """Say on the first loop that was made how the nest was cut."""
        if self.made:
            leave_tile(self.made[0], self.windows.nest, self.tile)

    def _step(self, loop: Loop) -> int | None:
        """The iterations of `loop` in a tile; None where it stays a loop of single steps."""
        if loop in self.steps:
            return self.steps[loop]
        return 1 if self.safe(loop) != (0, loop.extent or 0) else None

    def safe(self, loop: Loop) -> tuple[int, int]:
        """The iterations of `loop` whose unrolled taps all fall inside."""
        return self.windows.safe(loop, {self.rolled.iv} if self.rolled is not None else ())

    def has_few_borders(self) -> bool:
        """Whether the code for the tiles at the borders stays small."""
        return all(
            step is None or few_borders(cuts(loop.extent or 0, step, self.safe(loop)))
            for loop in self.windows.nest.band
            for step in [self._step(loop)]
        )

    def _inside(self, made: ir.Operation, loop: Loop, place: Place, count: int, rest: Sequence[Loop]) -> None:
        with ir.InsertionPoint(made.regions[0].blocks[0]):
            self._with_axis(loop, place, count, rest)
            affine.AffineYieldOp([])

    def _with_axis(self, loop: Loop, place: Place, count: int, rest: Sequence[Loop]) -> None:
        if self._step(loop) is None:
            self.places[loop.iv] = place
            self.levels(rest)
            return
        is_lanes = loop.iv == self.windows.lane_loop.iv
        lanes = self.tile.lanes
        self.axes.append(TileAxis(loop.iv, place, -(-count // lanes) if is_lanes else count, lanes if is_lanes else 1))
        self.places[loop.iv] = place
        self.levels(rest)
        self.axes.pop()


@dataclass(frozen=True)
class AffineTileWindows(Pass):
    """Cut sums and maxima over windows into tiles whose taps share loads, and read around padding instead of copying it.

    before: padded = 0; padded[h + 1, w + 1, c] = x[h, w, c]; y[h, w, c] = sum over i, j of padded[h + i, w + j, c] * k[i, j, c]
    after:  parallel h by 2, w by 2, c by 32 { 32 loads of x, 18 of k, 72 products ; stores }, and tiles at the borders
            without the taps outside

    These are depthwise convolutions and pooling. Lanes run along the channels, or along a row where that is contiguous.
    """

    anchor = "func.func"

    vector_bits: int = option(0, "bits of a vector register; 0: this machine's")
    registers: int = option(0, "number of vector registers; 0: this machine's")

    def run(self, op: ir.Operation) -> None:
        """Tile the windows of one function."""
        if not len(op.regions[0].blocks):
            return
        machine = TileLimits.of(op, self.vector_bits, self.registers)
        copies = padded_copies(op)
        for nest in nests_of(op):
            tiler = _tiler(nest, copies, machine)
            if tiler is None or not tiler.has_few_borders():
                continue
            with ir.InsertionPoint(nest.top), nest.top.location:
                tiler.levels(nest.order(tiler.tile))
            tiler.leave_tile()
            nest.top.erase()
        remove_unread_buffers(op)


def _tiler(nest: Nest, copies: Mapping[ir.Value, PaddedCopy], machine: TileLimits) -> _Tiler | None:
    """What tiles `nest`: by its schedule if it has one, else by the tile that is chosen; None when it is not over windows."""
    tile = given_tile(nest, _GENERATOR)
    if tile is not None and tile.code_generator != _GENERATOR:
        return None
    windows = windows_of(nest, copies, None if tile is None else tile.lane_loop)
    if windows is None and tile is not None:
        raise PassFailure(nest.top, "the nest has no windows along these lanes", "give it another schedule, or none")
    if windows is None:
        return None
    if tile is not None:
        _require_known(windows, tile)
        return _Tiler(windows, tile)
    lanes = machine.vector_bits // widest_element(nest.body)
    return _Tiler(windows, choose_tile(windows, lanes, machine)) if lanes > 1 else None
