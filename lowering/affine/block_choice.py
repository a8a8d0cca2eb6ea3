"""Chooses macro loops: blocks of sums where panels fall out of the second-level cache, and blocks of rows that stay in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.accesses import stride_along
from dlc.lowering.affine.blocking import problem_of_parts
from dlc.lowering.affine.cost import Tile, trips_of
from dlc.lowering.affine.lanes import element_bits
from dlc.lowering.affine.loops import Loop, real_ops
from dlc.lowering.affine.nests import Nest
from dlc.lowering.affine.order import Caches

_DENSE, _APART = (1 / 3, 1 / 8), (1 / 2, 1 / 4)
"""Shares of L2: of a panel whose sums are cut, and of the panel of a block; for panels that are dense and for others. On one core
with 2 MiB, 49x512x9216 (0.84) takes 0.61 of the time, 128x768x4096 (0.38) 0.95, and 128x768x3072 (0.28) would take 1.01. With
matrices that are not packed, 64x1024x1024 (2.0) takes 0.55, 128x768x3072 (1.5) 0.42, and 512x512x512 (0.5) would take 1.09.
"""
_RESULT = 1 / 2
"""Share of L2 of a result that all blocks of the sums add to, each after the whole of the one before."""
_ROWS, _ALL, _FEWEST_TILES, _FEWEST_PANELS = 5 / 16, 2 / 3, 4, 4
"""Shares of L2 of a block of rows, and of it, a panel and the next one; tiles in it, and panels that pass it, that pay.
1024x1024x1024 in blocks of 128 rows takes 0.98 of the time, 1280x1280x1280 0.94, 1024x4096x1024 0.97, 2048x2048x2048 in blocks of
64 rows 0.97; 1024x768x3072, whose panels leave too little room, would take 1.06 in blocks of 32 rows and 1.1 in blocks of 64.
"""


@dataclass(frozen=True)
class _Panel:
    """What the vector loads of a tile read through all reduction loops."""

    load: ir.Operation
    bytes: int
    """Of the cache: rows that lie a multiple of a power of two apart take all of what lies between lines that share no place."""
    is_dense: bool
    """Whether its rows follow each other in memory."""


def chosen_blocks(nest: Nest, tile: Tile, order: Sequence[Loop], caches: Caches) -> tuple[tuple[int, int], ...]:
    """The blocks (loop, iterations) by position, from the outside in, that pay for tiles of `nest` in the order `order`."""
    chain = nest.chain
    if chain is None or tile.reduces or any(loop.extent is None for loop in (*nest.band, *chain.loops)):
        return ()
    panels = [_panel_of(load, nest, tile, caches) for load in _loads(nest) if tile.lane_loop.iv in set(load.operands)]
    if len(panels) != 1 or panels[0] is None:
        return ()
    return _blocks_of_sums(nest, tile, order, caches, panels[0]) or _blocks_of_rows(nest, tile, order, caches, panels[0])


def _loads(nest: Nest) -> list[ir.Operation]:
    return [op for op in real_ops(nest.hot_block) if op.name == "affine.load"]


def _bytes_of(kind: ir.Type) -> int:
    return -(-(element_bits(kind) or 64) // 8)


def _panel_of(load: ir.Operation, nest: Nest, tile: Tile, caches: Caches) -> _Panel | None:
    """The panel of `load`; None where its rows lie unevenly."""
    assert nest.chain is not None
    element, followed = _bytes_of(load.results[0].type), set(load.operands)
    row = element * tile.lanes * tile.slots * math.prod(count for loop, count in tile.jams if loop.iv in followed)
    pitch = stride_along(load, nest.chain.loops[-1].iv)
    if not pitch or pitch < 0:
        return None
    apart = math.gcd(pitch * element, caches.l2_way_bytes)
    is_dense = pitch * element <= row
    steps = math.prod(loop.extent or 1 for loop in nest.chain.loops)
    return _Panel(load, steps * (row if is_dense else max(row, apart)), is_dense)


def _blocks_of_sums(nest: Nest, tile: Tile, order: Sequence[Loop], caches: Caches, panel: _Panel) -> tuple[tuple[int, int], ...]:
    """Blocks of the outermost reduction loop: inside each panel where panels are dense and the rows run inside, else outside."""
    assert nest.chain is not None
    loop, followed = nest.chain.loops[0], set(panel.load.operands)
    extent, again = loop.extent or 1, [each for each in order if each.iv not in followed and _trips(each, tile) > 1]
    falls_out, stays = _DENSE if panel.is_dense else _APART
    if panel.bytes <= caches.l2_bytes * falls_out or not again or problem_of_parts(nest):
        return ()
    most = int(caches.l2_bytes * stays) // max(1, panel.bytes // extent)
    if not 1 <= most < extent:
        return ()
    whole = tile.unroll if len(nest.chain.loops) == 1 else 1
    size = -(-extent // -(-extent // most))
    sums = (len(nest.band), -(-size // whole) * whole)
    before = order[: max(place for place, each in enumerate(order) if each.iv in followed) + 1]
    if panel.is_dense and again[0] not in before and not any(each in dict(tile.jams) for each in before):
        places = [(nest.band.index(each), tile.steps.get(each, 1)) for each in before]
        return (*places, sums)
    return (sums,) if _result_bytes(nest) <= caches.l2_bytes * _RESULT else ()


def _result_bytes(nest: Nest) -> float:
    assert nest.chain is not None
    return _bytes_of(nest.chain.loops[0].op.results[0].type) * math.prod(loop.extent or 1 for loop in nest.band)


def _blocks_of_rows(nest: Nest, tile: Tile, order: Sequence[Loop], caches: Caches, panel: _Panel) -> tuple[tuple[int, int], ...]:
    """Blocks of the loop whose copies share panels, where all rows of the other operand are more than L2 holds."""
    assert nest.chain is not None
    if len(tile.jams) != 1 or len(nest.chain.loops) != 1:
        return ()
    loop, step = tile.jams[0]
    rows = [load for load in _loads(nest) if loop.iv in set(load.operands)]
    is_plain = len(rows) == 1 and not any(each.iv in set(rows[0].operands) for each in nest.band if each is not loop)
    places = [place for place, each in enumerate(order) if each in (tile.lane_loop, loop)]
    is_inside = len(places) == 2 and order[places[1]] is loop
    if not is_plain or not is_inside or _trips(tile.lane_loop, tile) < _FEWEST_PANELS:
        return ()
    extent, row = loop.extent or 1, _bytes_of(rows[0].results[0].type) * (nest.chain.loops[0].extent or 1)
    most = int(min(caches.l2_bytes * _ROWS, caches.l2_bytes * _ALL - 2 * panel.bytes)) // row
    if extent * row <= caches.l2_bytes or most < _FEWEST_TILES * step:
        return ()
    return ((nest.band.index(loop), _even(extent, step, most)),)


def _even(extent: int, step: int, most: int) -> int:
    """Iterations of blocks of up to `most`, whole steps: of equal blocks where some cover `extent` and are no small part of it."""
    sizes = [size for size in range(most - most % step, most // 2, -step) if extent % size == 0]
    return sizes[0] if sizes else most - most % step


def _trips(loop: Loop, tile: Tile) -> int:
    return trips_of(loop, tile.steps.get(loop, 1)) or 1
