"""affine-split-open-rows: rows that fill no block of an unknown number of rows get a nest of their own."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.cost.loop_order import with_best_order
from dlc.lowering.affine.ir.blocking import split_rest
from dlc.lowering.affine.ir.loops import SCHEDULE, SEARCH, Bound, Loop
from dlc.lowering.affine.ir.nests import Nest, nests_of
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.search.choose import chosen, is_contraction
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class SplitOpenRows(Pass):
    """Split a product of an unknown number of rows into blocks of so many that all rows go outside of panels, and a rest.

    before: parallel m to %n { parallel j { y[m, j] = sum over k of x[m, k] * w[k, j] } }
    after:  parallel m to %n floordiv 312 * 312 { ... }   parallel m to %n mod 312 { ... at m + %n floordiv 312 * 312 }

    Many rows are cheaper outside: each is written at once. Few are cheaper inside: all of them pass one panel while the next one
    is fetched. Up to how many rows that holds, the cost of the order of loops says; the rest has a schedule of its own.
    Nests with a schedule of a user's stay as they are. (Index-set splitting: Griebl, Feautrier and Lengauer, 2000.)
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Split the products of one function."""
        limits = TileLimits.of(op)
        for nest in nests_of(op):
            loop = None if _is_fixed(nest) or not is_contraction(nest) else _open_loop(nest)
            size = 0 if loop is None else _block(nest, loop, limits)
            if loop is not None and size:
                split_rest(nest, loop, size)


def _is_fixed(nest: Nest) -> bool:
    """Whether a user has scheduled the nest, or it is a part of a loop."""
    return nest.is_part or bool(nest.top.results) or SCHEDULE in nest.top.attributes or SEARCH in nest.top.attributes


def _open_loop(nest: Nest) -> Loop | None:
    """The only loop of the nest whose extent is not known, if there are many rows; None for a size like any other."""
    found = [loop for loop in nest.loops if loop.extent is None]
    if len(found) != 1 or found[0] not in nest.band:
        return None
    return found[0] if found[0].likely_extent > policy().cost.assumed_trips else None


def _block(nest: Nest, loop: Loop, limits: TileLimits) -> int:
    """The rows up to which panels go outside, in whole tiles, where more go inside; 0 where all go the same way."""
    tile = chosen(nest, limits, "tile")
    if tile is None or tile.copied_loop is None or nest.loops[tile.copied_loop] is not loop or nest.reduces(tile):
        return 0
    height, most = nest.steps(tile)[loop], loop.likely_extent
    if not _rows_outside(nest, tile, loop, most, limits):
        return 0
    counts = range(policy().blocks.fewest_block_tiles, most // height)
    place = bisect_left(counts, True, key=lambda count: _rows_outside(nest, tile, loop, count * height, limits))
    return height * counts[place - 1] if place else 0


def _rows_outside(nest: Nest, tile: Tile, loop: Loop, rows: int, limits: TileLimits) -> bool:
    """Whether so many rows are cheaper outside of the panels."""
    known = Loop(loop.op, Bound.constant(rows))
    small = replace(nest, band=tuple(known if each is loop else each for each in nest.band))
    order = with_best_order(small, tile, limits.machine).order
    return order.index(nest.band.index(loop)) < order.index(tile.lane_loop)
