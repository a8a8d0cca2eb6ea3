"""Tiles that stand on nests: whether they fit, and what is left on the loops that are made by them."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.affine.ir.blocking import problem_of_blocks
from dlc.lowering.affine.ir.lanes import LaneFacts, NoLanesError, analyse_lanes
from dlc.lowering.affine.ir.loops import NEST, SCHEDULE, Loop
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import REMEDY, Tile, TileError, tile_at
from dlc.lowering.affine.schedule.copied_panels import problem_of_copies
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy

_FETCHES = ("prefetch", "fetch_rows")


def leave_tile(made: ir.Operation, nest: Nest, tile: Tile) -> None:
    """Say on `made`, the first loop that a code generator made of `nest`, what was done; before `nest` is erased."""
    made.attributes[SCHEDULE] = tile.attribute()
    if NEST in nest.top.attributes:
        made.attributes[NEST] = nest.top.attributes[NEST]


def given_tile(nest: Nest, generator: str = "") -> Tile | None:
    """The tile that stands on `nest`; `PassFailure` when it is none, or one for `generator` (default: any) that does not fit."""
    tile = tile_at(nest.top)
    if tile is not None and generator in ("", tile.code_generator):
        try:
            require_fit(nest, tile)
        except TileError as error:
            raise PassFailure(nest.top, str(error), REMEDY) from None
    return tile


def require_fit(nest: Nest, tile: Tile) -> None:
    """`TileError` unless `tile`, one for the code generators `tile`, `windows` and `rows`, fits `nest`."""
    for name in ("lanes", "vectors", "unroll"):
        if getattr(tile, name) < 1:
            raise TileError(f"'{name}' is {getattr(tile, name)} but must be 1 or more")
    if tile.lanes & (tile.lanes - 1):
        raise TileError(f"'lanes' is {tile.lanes} but must be a power of two")
    for name in _FETCHES:
        if not 0 <= getattr(tile, name) <= 3:
            raise TileError(f"'{name}' is {getattr(tile, name)} but must be a level of cache, 1 to 3, or 0")
    if tile.body_copies * tile.unroll > policy().limits.unrolled_copies:
        raise TileError(f"{tile.body_copies * tile.unroll} copies of the body are more than {policy().limits.unrolled_copies}")
    _require_loops(nest, tile)
    _require_blocks(nest, tile)
    lane_facts(nest, tile)


def _require_loops(nest: Nest, tile: Tile) -> None:
    loops, band = nest.loops, len(nest.band)
    if not 0 <= tile.lane_loop < len(loops):
        raise TileError(f"'lane_loop' is {tile.lane_loop} but the nest has loops 0 to {len(loops) - 1}")
    if band <= tile.lane_loop < len(loops) - 1:
        raise TileError(f"loop {tile.lane_loop} cannot be lanes: of reduction loops only the innermost can")
    if tile.unroll > 1 and (nest.chain is None or tile.lane_loop >= band):
        raise TileError("'unroll' needs a reduction loop that is not the lane loop")
    for name in _FETCHES:
        if getattr(tile, name) and (nest.chain is None or tile.lane_loop >= band):
            raise TileError(f"'{name}' needs a reduction loop that is not the lane loop")
    if tile.order and sorted(tile.order) != list(range(band)):
        raise TileError(f"'order' {list(tile.order)} does not name each of the {band} parallel loops once")
    jammed = [loop for loop, _ in tile.unroll_and_jam]
    for loop, count in tile.unroll_and_jam:
        if not 0 <= loop < band or loop == tile.lane_loop or jammed.count(loop) > 1 or count < 1:
            raise TileError(f"unroll-and-jam of loop {loop} by {count}: not another parallel loop than the lane loop")


def _require_blocks(nest: Nest, tile: Tile) -> None:
    if tile.blocks and tile.code_generator != "tile":
        raise TileError(f"'blocks' are for the code generator 'tile', not '{tile.code_generator}'")
    if problem := problem_of_blocks(nest, tile.blocks):
        raise TileError(problem)
    if tile.pack not in (0, 1):
        raise TileError(f"'pack' is {tile.pack} but must be 0 or 1")
    if tile.pack and (problem := problem_of_copies(nest, tile)):
        raise TileError(f"'pack' does not fit: {problem}")


def lane_facts(nest: Nest, tile: Tile) -> LaneFacts:
    """What each op of `nest` does in the lanes of `tile`; `TileError` when the loop cannot be lanes."""
    reduces = nest.reduces(tile)
    chain: Sequence[Loop] = nest.chain.loops if reduces and nest.chain else ()
    try:
        iv = nest.lane_loop(tile).iv
        facts = analyse_lanes(nest.body, iv, chain, lanes=tile.lanes, may_scatter=tile.code_generator == "tile")
    except NoLanesError as error:
        raise TileError(f"loop {tile.lane_loop} cannot be lanes: {error}") from None
    if reduces and not facts.maskable:
        raise TileError(f"loop {tile.lane_loop} cannot be lanes: lanes beyond its end could trap")
    return facts
