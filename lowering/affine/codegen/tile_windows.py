"""Sums and maxima over sliding windows become tiles of positions whose taps share their loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.analysis.buffers import ancestor_in
from dlc.lowering.affine.codegen.window_emitter import WindowEmitter
from dlc.lowering.affine.codegen.window_tiles import choose_tile
from dlc.lowering.affine.codegen.windows import GENERATOR, PaddedAxis, Place, TileAxis, Windows, cuts, few_borders, windows_of
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.forwarding import remove_unread_buffers
from dlc.lowering.affine.ir.lanes import widest_element
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for
from dlc.lowering.affine.ir.nests import Nest, nests_of
from dlc.lowering.affine.ir.padding import PaddedCopy, padded_copies
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.given_tiles import given_tile, leave_tile
from dlc.lowering.pass_base import Pass, PassFailure, option


@dataclass
class _Tiler:
    """Builds the loops of one nest over windows, from the outside in."""

    windows: Windows
    tile: Tile
    made: list[ir.Operation] = field(default_factory=list)
    places: dict[ir.Value, Place] = field(default_factory=dict)
    axes: list[TileAxis] = field(default_factory=list)
    ends: dict[Loop, tuple[Bound, Bound]] = field(default_factory=dict)
    edges: set[ir.Value] = field(default_factory=set)

    @cached_property
    def rolled(self) -> Loop | None:
        """The outermost reduction loop, if several are and the positions that it slides over are taken one at a time."""
        first, tiled = self.windows.taps[0], {loop.iv for loop in self.windows.nest.steps(self.tile)}
        sliding = [loop for loop in self.windows.nest.band if first.iv in self.windows.slid.get(loop.iv, ())]
        is_known = not any(loop.iv in tiled or self.windows.open_axes(loop) for loop in sliding)
        return first if len(self.windows.taps) > 1 and is_known else None

    @cached_property
    def steps(self) -> dict[Loop, int]:
        """Iterations that a tile takes of the loops that it cuts."""
        return self.windows.nest.steps(self.tile)

    def levels(self, loops: Sequence[Loop]) -> None:
        """Emit `loops`, then the body."""
        if not loops:
            lane_axis = next(index for index, axis in enumerate(self.axes) if axis.iv == self.windows.lane_loop.iv)
            emitter = WindowEmitter(
                self.windows, self.tile.lanes, list(self.axes), lane_axis, dict(self.places), self.rolled, frozenset(self.edges)
            )
            emitter.ops(self.windows.nest.body)
            return
        loop, rest = loops[0], loops[1:]
        step = self._step(loop)
        if step is None:
            made = self._build(Bound.constant(0), loop.upper, 1)
            self._inside(made, loop, (made.regions[0].blocks[0].arguments[0], 0), 1, rest)
            return
        if self._is_open(loop):
            self._open_level(loop, step, rest)
            return
        for begin, end, count in cuts(loop.extent or 0, step, self.safe(loop)):
            if end - begin == count:
                self._with_axis(loop, (None, begin), count, rest)
                continue
            made = self._build(Bound.constant(begin), Bound.constant(end), step)
            self._inside(made, loop, (made.regions[0].blocks[0].arguments[0], 0), count, rest)

    def _is_open(self, loop: Loop) -> bool:
        """Whether run time alone knows how many tiles of `loop` read no padding, or are whole."""
        return loop.extent is None or bool(self.windows.open_axes(loop))

    def _open_level(self, loop: Loop, step: int, rest: Sequence[Loop]) -> None:
        """Single steps up to the first tile without padding, tiles of `step`, and single steps from the last one on."""
        first, end = self.ends[loop]
        for lower, upper, count in ((Bound.constant(0), first, 1), (first, end, step), (end, loop.upper, 1)):
            if upper.static == 0:
                continue
            made = self._build(lower, upper, count)
            if lower is not first and self.windows.open_axes(loop):
                self.edges.add(loop.iv)
            self._inside(made, loop, (made.regions[0].blocks[0].arguments[0], 0), count, rest)
            self.edges.discard(loop.iv)

    def find_ends(self) -> None:
        """Emit where tiles without padding begin and end, of the loops where run time alone knows."""
        for loop in self.windows.nest.band:
            step = self._step(loop)
            if step is not None and self._is_open(loop):
                self.ends[loop] = _ends_of(loop, step, self.windows.open_axes(loop))

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
        if self._is_open(loop):
            return 1 if self.windows.open_axes(loop) else None
        return 1 if self.safe(loop) != (0, loop.extent or 0) else None

    def safe(self, loop: Loop) -> tuple[int, int]:
        """The iterations of `loop` whose unrolled taps all fall inside."""
        return self.windows.safe(loop, {self.rolled.iv} if self.rolled is not None else ())

    def has_few_borders(self) -> bool:
        """Whether the code for the tiles at the borders stays small."""
        return all(
            step is None or self._is_open(loop) or few_borders(cuts(loop.extent or 0, step, self.safe(loop)))
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


def _ends_of(loop: Loop, step: int, axes: Sequence[PaddedAxis]) -> tuple[Bound, Bound]:
    """Emit where the tiles of `step` iterations of `loop` begin and end whose taps all fall inside, both from 0 to its own end."""
    first = max((axis.first for axis in axes), default=0)
    expressions, operands = _joined([Bound.constant(first), loop.upper])
    begin = Bound.constant(0)
    if first:
        begin = Bound.symbol(affine.AffineMinOp(ir.AffineMap.get(0, len(operands), expressions), operands).result)
    expressions, operands = _joined([loop.upper, *(axis.end() for axis in axes)])
    safe = affine.AffineMinOp(ir.AffineMap.get(0, len(operands), expressions), operands).result
    tiles = ir.AffineExpr.get_floor_div(ir.AffineExpr.get_symbol(0) - first, step)
    whole = Bound(ir.AffineMap.get(0, 1, [tiles * step + first]), (safe,))
    expressions, operands = _joined([whole, begin])
    return begin, Bound.symbol(affine.AffineMaxOp(ir.AffineMap.get(0, len(operands), expressions), operands).result)


def _joined(bounds: Sequence[Bound]) -> tuple[list[ir.AffineExpr], list[ir.Value]]:
    """The expressions of bounds without dims over the symbols of all of them, and these."""
    expressions: list[ir.AffineExpr] = []
    operands: list[ir.Value] = []
    for bound in bounds:
        own = [ir.AffineExpr.get_symbol(len(operands) + place) for place in range(len(bound.operands))]
        expressions.append(substitute(bound.map.results[0], [], own))
        operands += bound.operands
    return expressions, operands


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
        limits = TileLimits.of(op, self.vector_bits, self.registers)
        copies = padded_copies(op)
        for nest in nests_of(op):
            tiler = _tiler(nest, copies, limits)
            if tiler is None or not tiler.has_few_borders():
                continue
            with ir.InsertionPoint(ancestor_in(nest.top, op.regions[0].blocks[0])), nest.top.location:
                tiler.find_ends()
            with ir.InsertionPoint(nest.top), nest.top.location:
                tiler.levels(nest.order(tiler.tile))
            tiler.leave_tile()
            nest.top.erase()
        remove_unread_buffers(op)


def _tiler(nest: Nest, copies: Mapping[ir.Value, PaddedCopy], limits: TileLimits) -> _Tiler | None:
    """What tiles `nest`: by its schedule if it has one, else by the tile that is chosen; None when it is not over windows."""
    tile = given_tile(nest, GENERATOR)
    if tile is not None and tile.code_generator != GENERATOR:
        return None
    windows = windows_of(nest, copies, None if tile is None else tile.lane_loop)
    if windows is None and tile is not None:
        raise PassFailure(nest.top, "the nest has no windows along these lanes", "give it another schedule, or none")
    if windows is None:
        return None
    if tile is not None:
        return _Tiler(windows, tile)
    lanes = limits.vector_bits // widest_element(nest.body)
    return _Tiler(windows, choose_tile(windows, lanes, limits)) if lanes > 1 else None
