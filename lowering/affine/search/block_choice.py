"""Chooses cache-blocking loops: blocks of sums where panels fall out of L2, and blocks of rows that stay in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import element_bytes
from dlc.lowering.affine.cost.instructions import trips_of
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.blocking import problem_of_parts
from dlc.lowering.affine.ir.loops import Loop
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.policy import policy
from dlc.targets.machine import PAGE_BYTES, Machine


@dataclass(frozen=True)
class _Panel:
    """What the vector loads of a tile read through all reduction loops."""

    load: ir.Operation
    bytes: int
    """Of the cache: rows that lie a multiple of a power of two apart take all of what lies between lines that share no place."""
    is_dense: bool
    """Whether its rows follow each other in memory."""


def chosen_blocks(nest: Nest, tile: Tile, machine: Machine) -> tuple[tuple[int, int], ...]:
    """The blocks (loop, iterations) by position, from the outside in, that pay for tiles of `nest`."""
    chain = nest.chain
    if chain is None or nest.reduces(tile) or any(loop.extent is None for loop in nest.loops):
        return ()
    lane = nest.lane_loop(tile).iv
    panels = [_panel_of(load, nest, tile, machine) for load in nest.innermost_loads if lane in set(load.operands)]
    if len(panels) != 1 or panels[0] is None:
        return ()
    if tile.body_copies == tile.vectors and not panels[0].is_dense and len(nest.band) == 1:
        return _blocks_of_pages(nest, tile, panels[0])
    sums = _blocks_of_sums(nest, tile, machine, panels[0])
    if sums and is_narrow(tile) and (blocks := _tall_blocks(nest, tile, machine, panels[0])):
        return blocks
    if sums and _column_bytes(nest, tile, machine) <= machine.l2_bytes * policy().blocks.quarter_share:
        return sums
    return _blocks_of_rows(nest, tile, machine, panels[0], bool(sums)) or sums


def chosen_strip(nest: Nest, tile: Tile, machine: Machine) -> int:
    """Columns of strips in which rows go outside of columns, so that a result is written along its rows; 0 where panels go outside.

    That is for short sums over rows that lie apart: all that a strip reads stays in L2.
    """
    stores = [op for op in nest.body if op.name == "affine.store"]
    if (
        nest.chain is None
        or nest.reduces(tile)
        or len(stores) != 1
        or len(tile.unroll_and_jam) != 1
        or any(each.extent is None for each in nest.loops)
    ):
        return 0
    lane, (row, _) = nest.lane_loop(tile), nest.unroll_and_jam(tile)[0]
    panels = [_panel_of(load, nest, tile, machine) for load in nest.innermost_loads if lane.iv in set(load.operands)]
    if nest.order(tile)[-2:] != [lane, row] or len(panels) != 1 or panels[0] is None or panels[0].is_dense or not is_narrow(tile):
        return 0
    extent, element = lane.extent or 1, bytes_of(stores[0].operands[0].type)
    pitch = abs(stride_along(stores[0], row.iv) or 0) * element
    pages = (row.extent or 1) * min(1.0, pitch / PAGE_BYTES)
    sums = math.prod(loop.extent or 1 for loop in nest.chain.loops)
    is_near = pages <= policy().blocks.near_pages or (row.extent or 1) * extent * element <= machine.l2_bytes
    read = sums * ((row.extent or 1) + policy().blocks.strip_columns) * element
    if is_near or stride_along(stores[0], lane.iv) != 1 or read > machine.l2_bytes * policy().blocks.half_share:
        return 0
    size = _even(extent, tile.width, policy().blocks.strip_columns)
    return size if size < extent else 0


def bytes_of(kind: ir.Type) -> int:
    """Bytes of an element of type `kind`; 8 for one that is no plain number."""
    return element_bytes(kind) or 8


def _panel_of(load: ir.Operation, nest: Nest, tile: Tile, machine: Machine) -> _Panel | None:
    """The panel of `load`; None where its rows lie unevenly."""
    assert nest.chain is not None
    element, followed = bytes_of(load.results[0].type), set(load.operands)
    row = element * tile.width * math.prod(count for loop, count in nest.unroll_and_jam(tile) if loop.iv in followed)
    pitch = stride_along(load, nest.chain.loops[-1].iv)
    if not pitch or pitch < 0:
        return None
    apart = math.gcd(pitch * element, machine.l2_way_bytes)
    is_dense = pitch * element <= row
    steps = math.prod(loop.extent or 1 for loop in nest.chain.loops)
    return _Panel(load, steps * (row if is_dense else max(row, apart)), is_dense)


def _blocks_of_sums(nest: Nest, tile: Tile, machine: Machine, panel: _Panel) -> tuple[tuple[int, int], ...]:
    """Blocks of the outermost reduction loop: inside each panel where panels are dense and the rows run inside, else outside."""
    assert nest.chain is not None
    loop, followed, order = nest.chain.loops[0], set(panel.load.operands), nest.order(tile)
    extent, again = loop.extent or 1, [each for each in order if each.iv not in followed and _trips(nest, each, tile) > 1]
    before = order[: max(place for place, each in enumerate(order) if each.iv in followed) + 1]
    is_inside = (
        panel.is_dense
        and bool(again)
        and again[0] not in before
        and not {*before} & {loop for loop, _ in nest.unroll_and_jam(tile)}
    )
    shares = policy().blocks
    falls_out, stays = (shares.third_share, shares.eighth_share) if panel.is_dense else (shares.half_share, shares.quarter_share)
    if panel.bytes <= machine.l2_bytes * falls_out or not again or problem_of_parts(nest):
        return ()
    stays = stays if is_inside or not panel.is_dense else policy().blocks.outside_share
    most = int(machine.l2_bytes * stays) // max(1, panel.bytes // extent)
    if not 1 <= most < extent:
        return ()
    sums = (len(nest.band), _size_of_part(nest, tile, -(-extent // most)))
    if is_inside:
        places = [(nest.band.index(each), nest.steps(tile).get(each, 1)) for each in before]
        return (*places, sums)
    return (sums,) if _result_bytes(nest) <= machine.l2_bytes * policy().blocks.half_share else ()


def _result_bytes(nest: Nest) -> float:
    assert nest.chain is not None
    return bytes_of(nest.chain.loops[0].op.results[0].type) * math.prod(loop.extent or 1 for loop in nest.band)


def _column_bytes(nest: Nest, tile: Tile, machine: Machine) -> float:
    """What the results that all tiles on one panel make take of the cache, as `_Panel.bytes` does; 0 without such a result."""
    stores = [op for op in nest.body if op.name == "affine.store"]
    if len(stores) != 1 or not tile.unroll_and_jam:
        return 0.0
    element = bytes_of(stores[0].operands[0].type)
    row = element * tile.width
    apart = math.gcd((stride_along(stores[0], nest.unroll_and_jam(tile)[0][0].iv) or 0) * element, machine.l2_way_bytes)
    return max(row, apart) * math.prod(loop.extent or 1 for loop in nest.band if loop is not nest.lane_loop(tile))


def _size_of_part(nest: Nest, tile: Tile, parts: int) -> int:
    """Iterations of so many parts of the outermost reduction loop, whole steps of it."""
    assert nest.chain is not None
    whole = tile.unroll if len(nest.chain.loops) == 1 else 1
    size = -(-(nest.chain.loops[0].extent or 1) // parts)
    return -(-size // whole) * whole


def _blocks_of_rows(nest: Nest, tile: Tile, machine: Machine, panel: _Panel, may_cut: bool) -> tuple[tuple[int, int], ...]:
    """Blocks of the loop whose copies share panels, where all rows of the other operand are more than L2 holds.

    With `may_cut`, and in them blocks of the sum where panels leave too little room.
    """
    found = rows_of(nest, tile)
    if found is None or _trips(nest, nest.lane_loop(tile), tile) < policy().blocks.fewest_block_tiles:
        return ()
    loop, row = found
    (_, step), columns, extent = tile.unroll_and_jam[0], tile.width, loop.extent or 1
    if extent * row <= machine.l2_bytes * (policy().blocks.panel_share if is_narrow(tile) else 1):
        return ()
    place, size = nest.band.index(loop), machine.l2_bytes
    most = int(min(size * policy().blocks.rows_share, size * policy().blocks.working_share - 2 * panel.bytes)) // row
    if is_narrow(tile):
        most = min(most, policy().blocks.most_block_tiles * step)
    if most >= max(policy().blocks.fewest_block_tiles * step, columns):
        return ((place, _even(extent, step, most)),)
    for parts in range(1, policy().blocks.most_sum_blocks + 1 if may_cut else 2):
        most = (
            int(min(size * policy().blocks.crowding_share, size * policy().blocks.full_share - panel.bytes / parts) * parts) // row
        )
        rows = _even(extent, step, most)
        if columns <= rows * policy().blocks.fewer_bytes and rows < extent:
            sums = ((len(nest.band), _size_of_part(nest, tile, parts)),) if parts > 1 else ()
            return ((place, rows), *sums)
    return ()


def _tall_blocks(nest: Nest, tile: Tile, machine: Machine, panel: _Panel) -> tuple[tuple[int, int], ...]:
    """Blocks of rows, several times as tall as panels are wide, and in them parts of the sum that leave room for two panels."""
    found = rows_of(nest, tile)
    if found is None or found[0].extent is None or found[0].extent * found[1] <= machine.l2_bytes * policy().blocks.panel_share:
        return ()
    (loop, row), size = found, machine.l2_bytes
    for parts in range(2, policy().blocks.most_sum_blocks + 1):
        most = (
            int(min(size * policy().blocks.rows_share, size * policy().blocks.working_share - 2 * panel.bytes / parts) * parts)
            // row
        )
        rows = _even(loop.extent or 1, tile.unroll_and_jam[0][1], most)
        if policy().blocks.rows_to_columns * tile.width <= rows < (loop.extent or 1):
            return (nest.band.index(loop), rows), (len(nest.band), _size_of_part(nest, tile, parts))
    return ()


def _blocks_of_pages(nest: Nest, tile: Tile, panel: _Panel) -> tuple[tuple[int, int], ...]:
    """For a single row, parts of the sum: rows of the matrix in so few pages that all tiles of columns find these again."""
    assert nest.chain is not None
    loop = nest.chain.loops[0]
    element = bytes_of(panel.load.results[0].type)
    pages = (loop.extent or 1) * min(1.0, (stride_along(panel.load, loop.iv) or 0) * element / PAGE_BYTES)
    if len(nest.chain.loops) > 1 or tile.width * element > PAGE_BYTES * policy().blocks.part_of_page:
        return ()
    if pages <= policy().blocks.near_pages or _trips(nest, nest.lane_loop(tile), tile) == 1 or problem_of_parts(nest):
        return ()
    return ((len(nest.band), _size_of_part(nest, tile, int(-(-pages // policy().blocks.near_pages)))),)


def is_narrow(tile: Tile) -> bool:
    """Whether panels have so few columns that the time for rows, which come again for each, is no small part."""
    return tile.width <= policy().blocks.narrow_panel


def rows_of(nest: Nest, tile: Tile) -> tuple[Loop, int] | None:
    """The loop over rows inside of the one over panels, and the bytes of a row; None where the nest has no such plain form."""
    if nest.chain is None or len(tile.unroll_and_jam) != 1 or len(nest.chain.loops) != 1:
        return None
    loop = nest.unroll_and_jam(tile)[0][0]
    rows = [load for load in nest.innermost_loads if loop.iv in set(load.operands)]
    is_plain = len(rows) == 1 and not any(each.iv in set(rows[0].operands) for each in nest.band if each is not loop)
    tiled = [each for each in nest.order(tile) if each in (nest.lane_loop(tile), loop)]
    if not is_plain or len(tiled) != 2 or tiled[1] is not loop:
        return None
    return loop, bytes_of(rows[0].results[0].type) * (nest.chain.loops[0].extent or 1)


def _even(extent: int, step: int, most: int) -> int:
    """Iterations of blocks of about `most` or fewer, whole steps: of equal blocks where some cover `extent` and are no small part.

    Others are as few as there can be, and alike: 197x3072x768 takes 0.97 of the time in blocks of 54 rows, not 48 and at last 5.
    """
    sizes = [size for size in range(most - most % step, most // 2, -step) if extent % size == 0]
    if sizes or most < step:
        return sizes[0] if sizes else 0
    size = -(-extent // -(-extent // most))
    return -(-size // step) * step


def _trips(nest: Nest, loop: Loop, tile: Tile) -> int:
    return trips_of(loop, nest.steps(tile).get(loop, 1)) or 1
