"""Chooses how the tile loops of a band nest, by the data that each order moves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.lowering.affine.cost.limits import reread_weight
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import Loop, real_ops
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.policy import policy
from dlc.targets.machine import LINE_BYTES, Machine


@dataclass(frozen=True)
class _Operand:
    """A load of the innermost body."""

    used: frozenset[Loop]
    """The band loops that it follows."""
    size: int
    """Bytes that one tile of it touches."""
    streams: bool
    """Whether it loads vectors, which can be fetched ahead."""


@dataclass(frozen=True)
class _PartialLines:
    """A store that fills a part of a cache line in each step of `loop`, and the rest in the next ones."""

    loop: Loop
    share: float
    tile_bytes: int
    """Bytes of the lines that a tile comes to."""
    bytes: int

    def traffic(self, order: Sequence[Loop], trips: Mapping[Loop, int], machine: Machine) -> float:
        """Weighted bytes that move when lines come back, and leave again, after the loops inside `loop` ran."""
        inside = order[list(order).index(self.loop) + 1 :]
        footprint = self.tile_bytes * math.prod(trips[loop] for loop in inside)
        return 2 * self.bytes * (1 / self.share - 1) * reread_weight(footprint, machine)


def with_best_order(nest: Nest, tile: Tile, machine: Machine) -> Tile:
    """`tile` with the band in the order that moves the least data; the order of the source where it makes no difference."""
    return replace(tile, order=tuple(nest.band.index(loop) for loop in _best_order(nest, tile, machine)))


def _best_order(nest: Nest, tile: Tile, machine: Machine) -> list[Loop]:
    band = list(nest.band)
    if not nest.inner_loops:
        return sorted(band, key=lambda loop: loop is nest.lane_loop(tile))
    fixed, free = band[: -policy().limits.permuted_loops], band[-policy().limits.permuted_loops :]
    trips = {loop: _trips(nest, loop, tile) for loop in band}
    operands = _operands(nest, tile)
    stores = [store for store in _partial_lines(nest, tile) if store.loop in free]

    work = _work_bytes(nest, machine)

    def cost(order: Sequence[Loop]) -> float:
        moved = sum(store.traffic(order, trips, machine) for store in stores)
        waits = 0.0
        for operand in operands:
            moved += _traffic(order, operand, trips, machine)
            waits += _unfetched(order, operand, trips, machine)
        return math.hypot(work, moved) + waits

    return [*fixed, *min((list(order) for order in itertools.permutations(free)), key=cost)]


def _work_bytes(nest: Nest, machine: Machine) -> float:
    """The bytes that the second-level cache could give while the nest multiplies: what moves meanwhile costs little."""
    products = math.prod(loop.likely_extent for loop in nest.loops)
    bits = max(
        (element_bits(op.results[0].type) or 64 for op in real_ops(nest.innermost_body) if op.name == "affine.load"), default=64
    )
    return products / machine.lanes(bits) * machine.cycles("fma_f32") * machine.l2.bytes_per_cycle


def _trips(nest: Nest, loop: Loop, tile: Tile) -> int:
    extent = loop.likely_extent
    return max(1, -(-extent // nest.steps(tile).get(loop, 1)))


def _operands(nest: Nest, tile: Tile) -> list[_Operand]:
    """Every load of the innermost body."""
    found = []
    for op in real_ops(nest.innermost_body):
        if op.name != "affine.load":
            continue
        subscripts = set(op.operands)
        size = (element_bits(op.results[0].type) or 64) // 8
        for loop in nest.loops:
            if loop.iv in subscripts:
                extent = loop.likely_extent
                size *= -(-extent // _trips(nest, loop, tile)) if loop in nest.band else extent
        used = frozenset(loop for loop in nest.band if loop.iv in subscripts)
        found.append(_Operand(used, size, nest.lane_loop(tile) in used))
    return found


def _partial_lines(nest: Nest, tile: Tile) -> list[_PartialLines]:
    """The stores of the tile's results that fill lines in several steps."""
    found = []
    elements = math.prod(loop.likely_extent for loop in nest.band)
    for op in nest.body:
        if op.name != "affine.store":
            continue
        size = -(-(element_bits(ir.MemRefType(op.operands[1].type).element_type) or 64) // 8)
        for loop in nest.band:
            step = nest.steps(tile).get(loop, 1)
            share = step * size / LINE_BYTES
            if stride_along(op, loop.iv) == 1 and share < 1 and _trips(nest, loop, tile) > 1:
                lines = tile.body_copies * (1 if nest.reduces(tile) else tile.lanes) // step
                found.append(_PartialLines(loop, share, lines * LINE_BYTES, elements * size))
    return found


def _traffic(order: Sequence[Loop], operand: _Operand, trips: Mapping[Loop, int], machine: Machine) -> float:
    """Weighted bytes that one operand moves: a loop that does not follow it repeats what is inside it."""
    moved, footprint = 0.0, float(operand.size)
    times = math.prod(trips[loop] for loop in order)
    inner = 1.0
    for loop in reversed(order):
        if loop in operand.used:
            footprint *= trips[loop]
        else:
            moved += times / inner / trips[loop] * (trips[loop] - 1) * footprint * reread_weight(footprint, machine)
        inner *= trips[loop]
    return moved


def _unfetched(order: Sequence[Loop], operand: _Operand, trips: Mapping[Loop, int], machine: Machine) -> float:
    """Weighted bytes of vectors that no loop inside repeats: the tiles on the panel before cannot fetch them ahead."""
    moving = [loop for loop in order if trips[loop] > 1]
    footprint = float(operand.size) * math.prod(trips[loop] for loop in moving if loop in operand.used)
    is_exposed = operand.streams and bool(moving) and moving[-1] in operand.used and reread_weight(footprint, machine) > 0
    return footprint * policy().cost.unfetched_weight if is_exposed else 0.0
