"""Chooses the tiles of nests over sliding windows: vectors, copies of rows and columns, and the order of the loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlc.lowering.affine.codegen.windows import GENERATOR, Windows
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.loops import Loop
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.policy import policy


def choose_tile(windows: Windows, lanes: int, limits: TileLimits) -> Tile:
    """The tile for `windows`, by the positions that its accumulators can stand for, and by where rows lie in the caches."""
    vectors, unroll_and_jam, order = _row_tile(windows, lanes) if windows.lanes_slide else _channel_tile(windows, lanes, limits)
    place = windows.nest.band.index
    jammed = tuple((place(loop), count) for loop, count in unroll_and_jam)
    return Tile(GENERATOR, place(windows.lane_loop), lanes, vectors, jammed, tuple(place(loop) for loop in order))


_Chosen = tuple[int, Sequence[tuple[Loop, int]], Sequence[Loop]]
"""Vectors, the copies of each loop to unroll and jam, and the loops from the outside in."""


def _row_tile(windows: Windows, lanes: int) -> _Chosen:
    """A row as lanes: up to four vectors of it, by as many rows as give each sum time to end."""
    band = windows.nest.band
    slid = [loop for loop in band if loop.iv in windows.slid and loop is not windows.lane_loop]
    vectors = balanced(-(-(windows.lane_loop.extent or 1) // lanes), policy().tiles.row_vectors)
    order = (*(loop for loop in band if loop is not windows.lane_loop), windows.lane_loop)
    rows = balanced(slid[-1].likely_extent, policy().tiles.window_copies // vectors) if slid else 1
    return vectors, ((slid[-1], rows),) if rows > 1 else (), order


def _channel_tile(windows: Windows, lanes: int, limits: TileLimits) -> _Chosen:
    """Channels as lanes: two rows by a few columns, since two neighbours share most of the rows that they read.

    Where rows are few and most of them are at a border, tiles of one row by up to seven columns need less code.
    """
    band = windows.nest.band
    slid = [loop for loop in band if loop.iv in windows.slid and loop is not windows.lane_loop]
    vectors = min(-(-(windows.lane_loop.extent or 1) // lanes), 2)
    order = _channel_order(windows, limits)
    if len(slid) < 2 or not _has_inner_rows(windows, slid[-2]):
        columns = balanced(slid[-1].likely_extent, (limits.registers // 2 - 2) // vectors)
        return vectors, ((slid[-1], columns),), order
    if math.prod(loop.extent or 1 for loop in windows.taps) > policy().tiles.few_taps:
        vectors = 1
    columns = balanced(slid[-1].likely_extent, max(1, policy().tiles.window_copies // (policy().tiles.window_rows * vectors)))
    return vectors, ((slid[-2], policy().tiles.window_rows), (slid[-1], columns)), order


def _has_inner_rows(windows: Windows, loop: Loop) -> bool:
    """Whether most of the tiles along `loop` read no padding, as those of an unknown number do."""
    if loop.extent is None or windows.open_axes(loop):
        return True
    begin, end = windows.safe(loop)
    inner = end // policy().tiles.window_rows - -(-begin // policy().tiles.window_rows)
    return 2 * inner > -(-(loop.extent or 0) // policy().tiles.window_rows)


def _channel_order(windows: Windows, limits: TileLimits) -> tuple[Loop, ...]:
    """Channels go outermost where the rows that a tile reads, all channels of them, fall out of the first cache.

    Images beyond a share of the second cache are read in the order of memory all the same: 112x112x96 takes 344 us against 264.
    """
    band = windows.nest.band
    outer = next(loop for loop in band if loop.iv in windows.slid)
    tap = next(loop for loop in windows.taps if loop.iv in windows.slid[outer.iv])
    row, tap_row = _most_bytes(windows, outer), _most_bytes(windows, tap)
    fits_first = (
        row * (policy().tiles.window_rows - 1) + tap_row * (tap.extent or 1)
        <= policy().tiles.window_row_caches * limits.machine.l1_bytes
    )
    fits_second = row * (outer.extent or 1) <= policy().blocks.quarter_share * limits.machine.l2_bytes
    if fits_first or not fits_second:
        return band
    return (windows.lane_loop, *(loop for loop in band if loop is not windows.lane_loop))


def _most_bytes(windows: Windows, loop: Loop) -> int:
    """The way that an iteration of `loop` is in an image that the windows slide over."""
    ways = [(stride_along(slide.op, loop.iv) or 0) * slide.op.results[0].type.width // 8 for slide in windows.slides]
    return max(ways)


def balanced(extent: int, most: int) -> int:
    """Iterations of each tile when `extent` is cut into as few even tiles of up to `most` as possible; 1 where there are none."""
    return -(-extent // -(-extent // max(1, most))) if extent else 1
