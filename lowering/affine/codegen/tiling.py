"""Replaces a nest by its tiled form: outer loops over tiles, around copies of the body on vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.codegen.copied_panels import copy_panels
from dlc.lowering.affine.codegen.emitter import TileEmitter, copy_loop
from dlc.lowering.affine.codegen.jammed_steps import JammedSteps, jammed_steps
from dlc.lowering.affine.codegen.reducing import LaneReduction, ReducingEmitter
from dlc.lowering.affine.codegen.unrolling import UnrollingEmitter
from dlc.lowering.affine.cost.step_heights import vectors_of_step
from dlc.lowering.affine.ir.blocking import blocks_of
from dlc.lowering.affine.ir.lanes import LaneFacts
from dlc.lowering.affine.ir.loops import NEST, SCHEDULE, Loop, build_for
from dlc.lowering.affine.ir.masks import Segment, segments, tail_masks
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import REMEDY, Tile, TileError
from dlc.lowering.affine.ir.values import TileDim, TileValues
from dlc.lowering.affine.schedule.given_tiles import lane_facts, leave_tile
from dlc.lowering.affine.search.prefetch import PrefetchedPanel, panels_of
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy

JammedLoops = Mapping[Loop, Sequence[JammedSteps]]
"""The steps of each loop that is unrolled and jammed."""


@dataclass
class _Tiler:
    """Builds the loops of one tiled nest, from the outside in."""

    nest: Nest
    tile: Tile
    facts: LaneFacts
    values: TileValues
    steps: JammedLoops
    panels: Sequence[PrefetchedPanel] = ()
    scalar_tail: bool = False

    @property
    def lane_loop(self) -> Loop:
        """The loop whose iterations are lanes."""
        return self.nest.lane_loop(self.tile)

    def levels(self, loops: Sequence[Loop]) -> None:
        """Emit `loops`, then the body."""
        if not loops:
            self._body()
            return
        loop, rest = loops[0], loops[1:]
        if loop == self.lane_loop:
            self._lane_level(loop, rest)
        elif loop in self.steps:
            self._unroll_and_jam_loop(loop, rest)
        else:
            made = copy_loop(loop, self.values)
            self._inside(made, rest)

    def _inside(self, loop: ir.Operation, rest: Sequence[Loop]) -> None:
        with ir.InsertionPoint(loop.regions[0].blocks[0]):
            self.values.enter_body()
            self.levels(rest)
            affine.AffineYieldOp([])
            self.values.leave_body()

    def _unroll_and_jam_loop(self, loop: Loop, rest: Sequence[Loop]) -> None:
        """Its steps, each height in a loop of its own."""
        for steps in self.steps[loop]:
            if steps.upper.static != 0:
                made = build_for(steps.lower, steps.upper, steps.height, parallel=steps.parallel)
                self._with_dim(TileDim(loop.iv, made.regions[0].blocks[0].arguments[0], steps.height), made, rest)

    def _with_dim(self, dim: TileDim, made: ir.Operation, rest: Sequence[Loop]) -> None:
        self.values.dims.append(dim)
        self._inside(made, rest)
        self.values.dims.pop()

    def _lane_level(self, loop: Loop, rest: Sequence[Loop]) -> None:
        for segment in segments(loop.upper, self.tile.lanes, self.tile.vectors):
            if segment.masked and self.scalar_tail:
                self._scalar_tail(loop, segment, rest)
                continue
            made = build_for(segment.lower, segment.upper, segment.step, parallel=True)
            body = made.regions[0].blocks[0]
            iv, values = body.arguments[0], self.values
            with ir.InsertionPoint(body):
                values.masks = tail_masks(loop.upper, iv, segment, self.tile.lanes)
            values.lane_dim = len(values.dims)
            self._with_dim(TileDim(loop.iv, iv, segment.vectors, self.tile.lanes), made, rest)
            values.lane_dim, values.masks = None, ()

    def _scalar_tail(self, loop: Loop, segment: Segment, rest: Sequence[Loop]) -> None:
        """The tail as the scalar loop it was, where made-up lanes could trap or cannot be masked."""
        made = build_for(segment.lower, segment.upper, parallel=True)
        self.values.define(loop.iv, (), [made.regions[0].blocks[0].arguments[0]], False)
        self._inside(made, rest)
        del self.values.entries[loop.iv]

    def _body(self) -> None:
        tile = self.tile
        if self.nest.reduces(tile):
            assert self.nest.chain is not None
            reduction = LaneReduction(self.nest.chain, self.lane_loop, tile.vectors)
            ReducingEmitter(self.values, self.facts, reduction).ops(self.nest.body)
            return
        facts = self.facts if self.values.lane_dim is not None else None
        if self.nest.chain is not None and facts is not None and not self._is_small_rest() and (tile.unroll > 1 or self.panels):
            emitter: TileEmitter = UnrollingEmitter(self.values, facts, self.nest.chain, tile.unroll, self.panels)
        else:
            emitter = TileEmitter(self.values, facts)
        emitter.ops(self.nest.body)

    def _is_small_rest(self) -> bool:
        """Whether the body is for the last lanes of a long loop: unrolling it would take more time to compile than it saves."""
        loop, step = self.lane_loop, self.tile.width
        is_rest = any(mask is not None for mask in self.values.masks) or any(
            dim.iv == loop.iv and dim.count < self.tile.vectors for dim in self.values.dims
        )
        return is_rest and (loop.extent is None or loop.extent >= policy().tiles.masked_rest_steps * step)


def apply_blocks(nest: Nest, tile: Tile) -> None:
    """Replace `nest` by the cache-blocking loops and tiles of `tile`, which fits it; the first loop carries the tile.

    `PassFailure` at a block that the tiles do not fit.
    """
    if not tile.blocks:
        apply(nest, tile)
        return
    block, before = nest.top.block, _position(nest.top)
    marks = {NEST: nest.top.attributes[NEST]} if NEST in nest.top.attributes else {}
    inner = dataclasses.replace(tile, blocks=(), pack=0)
    for part in blocks_of(nest, tile.blocks):
        if tile.pack:
            copy_panels(part.nest, inner)
        try:
            apply(part.nest, inner, part.ahead)
        except TileError as error:
            raise PassFailure(part.nest.top, f"a block of the schedule does not fit: {error}", REMEDY) from None
    made = _first_loop(block, before)
    if made is None:
        return
    for name, mark in (marks | {SCHEDULE: tile.attribute()}).items():
        made.attributes[name] = mark


def _first_loop(block: ir.Block, place: int) -> ir.Operation | None:
    """The first loop of a block from a place on; None where a nest without iterations has left none."""
    found = (op.operation for op in list(block.operations)[place:])
    return next((op for op in found if op.name == "affine.for"), None)


def apply(nest: Nest, tile: Tile, ahead: Mapping[ir.Value, int] | None = None) -> None:
    """Replace `nest` by the loops that `tile`, which fits it, asks for; the first of them carries the tile.

    `ahead` leads from the operands of `nest` to those of the nest that runs next.
    """
    top, facts = nest.top, lane_facts(nest, tile)
    panels = panels_of(nest, tile, facts, ahead or {}) if tile.prefetch or tile.fetch_rows else []
    block, before = top.block, _position(top)
    with ir.InsertionPoint(top), top.location:
        steps = {loop: jammed_steps(loop, factor) for loop, factor in nest.unroll_and_jam(tile)}
        for part, own in _by_width(nest, tile, steps):
            values = TileValues(dims=[], lanes=tile.lanes)
            tiler = _Tiler(nest, part, facts, values, own, panels if part == tile else (), scalar_tail=not facts.maskable)
            tiler.levels(nest.order(part))
            for result in top.results:
                result.replace_all_uses_with(values.scalar(result, {}))
    made = _first_loop(block, before)
    if ahead is None and made is not None and made != top and _has_vectors(nest, tile, facts):
        leave_tile(made, nest, tile)
    top.erase()


def _by_width(nest: Nest, tile: Tile, steps: JammedLoops) -> Iterator[tuple[Tile, JammedLoops]]:
    """`tile` and its steps, then those of few rows, which have tiles of more vectors: these go along a row before the next step."""
    if len(steps) != 1:
        yield tile, steps
        return
    ((loop, heights),) = steps.items()
    widths: dict[int, list[JammedSteps]] = {tile.vectors: []}
    for each in heights:
        widths.setdefault(vectors_of_step(nest, tile, each.height), []).append(each)
    yield tile, {loop: widths.pop(tile.vectors)}
    place = tile.unroll_and_jam[0][0]
    order = (place, *(other for other in tile.order or range(len(nest.band)) if other != place))
    for vectors, few in widths.items():
        yield (
            dataclasses.replace(tile, vectors=vectors, order=order),
            {loop: [dataclasses.replace(each, parallel=False) for each in few]},
        )


def _position(op: ir.Operation) -> int:
    """How many ops stand before `op` in its block."""
    return next(index for index, other in enumerate(op.block.operations) if other.operation == op)


def _has_vectors(nest: Nest, tile: Tile, facts: LaneFacts) -> bool:
    """Whether some step of the lane loop is not its scalar tail."""
    extent = nest.lane_loop(tile).extent
    return facts.maskable or extent is None or extent >= tile.lanes
