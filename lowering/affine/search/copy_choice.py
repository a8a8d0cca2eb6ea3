"""When copies of an operand's panels pay; see `schedule/copied_panels.py`."""

from __future__ import annotations

import math

from dlc.lowering.affine.cost.limits import falls_out
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.blocking import problem_of_parts
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.copied_panels import panel_load, problem_of_panels
from dlc.lowering.affine.search.block_choice import bytes_of, is_narrow, rows_of
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


def chosen_copies(nest: Nest, tile: Tile, machine: Machine) -> tuple[tuple[int, int], ...]:
    """The blocks, as `Tile.blocks`, for whose panels a copy pays; empty where none does."""
    found = rows_of(nest, tile)
    if found is None or not is_narrow(tile) or len(nest.band) != 2 or problem_of_panels(nest, tile):
        return ()
    (loop, row), load = found, panel_load(nest, tile)
    rows, columns, width = loop.extent or 0, nest.lane_loop(tile).extent or 0, tile.width
    assert nest.chain is not None and load is not None
    steps, pitch = nest.chain.loops[0].extent or 1, stride_along(load, nest.chain.loops[0].iv) or 0
    apart = bytes_of(load.results[0].type) * pitch
    if columns <= policy().packing.copied_panels * width or pitch <= width or not falls_out(steps, apart, machine):
        return ()
    if not policy().packing.transposing_rows <= rows <= policy().packing.most_copied_rows:
        return ()
    copied = steps * policy().packing.copied_panels * width * bytes_of(load.results[0].type)
    parts = math.ceil(
        max(
            rows * row / (machine.l2_bytes * policy().blocks.resident_share),
            copied / (machine.l2_bytes * policy().blocks.half_share),
        )
    )
    lanes = (tile.lane_loop, policy().packing.copied_panels * width)
    if parts == 1 or problem_of_parts(nest):
        return (lanes,)
    size = -(-steps // parts)
    return (len(nest.band), -(-size // tile.unroll) * tile.unroll), lanes
