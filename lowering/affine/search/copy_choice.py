"""When copies of an operand's panels pay; see `schedule/copied_panels.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlc.lowering.affine.cost.instructions import RegisterTile
from dlc.lowering.affine.cost.loop_order import Caches
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.blocking import problem_of_parts
from dlc.lowering.affine.ir.loops import Loop
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.schedule.copied_panels import panel_load, problem_of_panels
from dlc.lowering.affine.search.block_choice import bytes_of, is_narrow, rows_of

_PANELS = 4
"""Panels that are copied at once: four lines of each row of the matrix. On one core of AVX2 with 512 KiB, 128x3072x768 takes 0.82
of the time that it takes with a copy of the whole matrix before, and with one panel at a time 1.0; 128x768x3072 0.85 and 0.92.
"""
_FEWEST_ROWS, MOST_ROWS = 16, 192
"""Rows of the other operand that pay for the copy. On that core 16x1024x1024 takes 0.47 of the time that it takes without,
16x768x768 0.92 and 8x768x768 would take 1.3; 256x1024x1024 takes 0.98 of the time with a copy of the whole matrix before.
"""
_ROWS, _COPIED = 3 / 4, 1 / 2
"""Shares of L2 of what a block reads of the other operand, and of its copy; parts of the sum make them so."""


def chosen_copies(nest: Nest, tile: RegisterTile, order: Sequence[Loop], caches: Caches) -> tuple[tuple[int, int], ...]:
    """The blocks, as `NestSchedule.blocks`, for whose panels a copy pays; empty where none does."""
    found = rows_of(nest, tile, order)
    if found is None or not is_narrow(tile) or len(nest.band) != 2 or problem_of_panels(nest, tile):
        return ()
    (loop, row), load = found, panel_load(nest, tile)
    rows, columns, width = loop.extent or 0, tile.lane_loop.extent or 0, tile.lanes * tile.vectors
    assert nest.chain is not None and load is not None
    steps, pitch = nest.chain.loops[0].extent or 1, stride_along(load, nest.chain.loops[0].iv) or 0
    apart = bytes_of(load.results[0].type) * pitch
    if columns <= _PANELS * width or pitch <= width or not caches.falls_out(steps, apart):
        return ()
    if not _FEWEST_ROWS <= rows <= MOST_ROWS:
        return ()
    copied = steps * _PANELS * width * bytes_of(load.results[0].type)
    parts = math.ceil(max(rows * row / (caches.l2_bytes * _ROWS), copied / (caches.l2_bytes * _COPIED)))
    lanes = (nest.band.index(tile.lane_loop), _PANELS * width)
    if parts == 1 or problem_of_parts(nest):
        return (lanes,)
    size = -(-steps // parts)
    return (len(nest.band), -(-size // tile.unroll) * tile.unroll), lanes
