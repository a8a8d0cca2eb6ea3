"""Chooses how the tile loops of a band nest, by the data that each order moves."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from dlc.lowering.affine.cost import Tile
from dlc.lowering.affine.lanes import element_bits
from dlc.lowering.affine.loops import Loop, real_ops
from dlc.lowering.affine.nests import Nest

_TYPICAL_EXTENT = 64
_CACHES = ((32 << 10, 0.0), (1 << 20, 1.0), (2 << 20, 2.0))
"""(bytes, weight of a byte that is read again within so many); 49x512x6144, whose panels take 1.2 MB, is 1.2 times as fast
with rows inside panels as with panels inside rows, which read all 12 MB for each tile of rows.
"""
_MEMORY_WEIGHT = 4.0
_MOST_PERMUTED = 4


def best_order(nest: Nest, tile: Tile) -> list[Loop]:
    """The band loops in the order that moves the least data; the order of the source where it makes no difference."""
    band = list(nest.band)
    if not nest.inner_loops:
        return [*(loop for loop in band if loop is not tile.lane_loop), *_lane_loops(nest, tile)]
    fixed, free = band[:-_MOST_PERMUTED], band[-_MOST_PERMUTED:]
    trips = {loop: _trips(loop, tile) for loop in band}
    accesses = _accesses(nest, tile)
    orders = [list(order) for order in itertools.permutations(free)]
    return [*fixed, *min(orders, key=lambda order: sum(_traffic(order, used, size, trips) for used, size in accesses))]


def _lane_loops(nest: Nest, tile: Tile) -> list[Loop]:
    return [] if tile.reduces else [loop for loop in nest.band if loop is tile.lane_loop]


def _trips(loop: Loop, tile: Tile) -> int:
    extent = _TYPICAL_EXTENT if loop.extent is None else loop.extent
    step = dict(tile.jams).get(loop, 1)
    if loop is tile.lane_loop:
        step = tile.lanes * tile.slots
    return max(1, -(-extent // step))


def _accesses(nest: Nest, tile: Tile) -> list[tuple[set[Loop], int]]:
    """For every load of the hot block: the band loops it follows, and the bytes that one tile of it touches."""
    chain = nest.chain.loops if nest.chain else ()
    found = []
    for op in real_ops(nest.hot_block):
        if op.name != "affine.load":
            continue
        subscripts = set(op.operands)
        size = (element_bits(op.results[0].type) or 64) // 8
        for loop in (*nest.band, *chain):
            if loop.iv in subscripts:
                extent = _TYPICAL_EXTENT if loop.extent is None else loop.extent
                size *= -(-extent // _trips(loop, tile)) if loop in nest.band else extent
        found.append(({loop for loop in nest.band if loop.iv in subscripts}, size))
    return found


def _traffic(order: Sequence[Loop], used: set[Loop], size: int, trips: Mapping[Loop, int]) -> float:
    """Weighted bytes that one access moves: a loop that does not follow it repeats what is inside it."""
    moved, footprint = 0.0, float(size)
    times = 1.0
    for loop in order:
        times *= trips[loop]
    inner = 1.0
    for loop in reversed(order):
        if loop in used:
            footprint *= trips[loop]
        elif trips[loop] > 1:
            moved += times / inner / trips[loop] * (trips[loop] - 1) * footprint * _weight(footprint)
        inner *= trips[loop]
    return moved


def _weight(footprint: float) -> float:
    return next((weight for size, weight in _CACHES if footprint <= size), _MEMORY_WEIGHT)
