"""Wavefronts in small tiles: iterations of several rows and time steps side by side, where every loop waits for itself.

The sum of skewed loops along which no dependence goes backwards grows along each dependence, so iterations of one sum have no
order (Lamport, CACM 1974). In a small tile there are a few of them: chains of dependences that a core works on at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import islpy as isl

from dlc.lowering.affine.dependences.band_nests import LoopToBuild, is_band, replace_chain
from dlc.lowering.affine.polyhedral.loop_marks import LOOP, UNROLL, LoopMark
from dlc.lowering.affine.polyhedral.loop_values import place_in_tile, tile_number
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.search.full_tiles import tiles_of
from dlc.lowering.affine.search.scheduler import ScheduleUnit
from dlc.lowering.affine.search.skewing import Skewed
from dlc.lowering.policy import policy


def wavefront_sizes(part: ScheduleUnit, skewed: Skewed, schedule: isl.Schedule) -> tuple[int, ...] | None:
    """The sizes of the tiles of all skewed loops but the innermost, 0 for that; None where wavefronts do not fit.

    They are for a single statement all of whose loops carry dependences in `schedule`, an order whose loops are marked.
    """
    if len(part.statements) != 1 or not skewed.sum_advances or _has_free_loop(schedule):
        return None
    (statement,) = part.statements
    count = len(skewed.values) - 1
    side_by_side = min(policy().parallel.side_by_side, policy().limits.wavefront_ops // len(statement.ops))
    sizes = [2 ** (int(math.log2(max(1, side_by_side))) // count)] * count
    for at in reversed(range(count)):
        sizes[at] *= 2 if math.prod(sizes) * 2 <= side_by_side else 1
    return (*sizes, 0) if math.prod(sizes) > 1 and _are_long(statement, sizes) else None


def can_be_written_out(part: ScheduleUnit, sizes: Sequence[int]) -> bool:
    """Whether tiles of `sizes` of all loops but the innermost are small enough to have a copy of the statement for each point."""
    points = math.prod(size for size in sizes if size)
    return not sizes[-1] and points * len(part.statements[0].ops) <= policy().limits.wavefront_ops


def _has_free_loop(schedule: isl.Schedule) -> bool:
    def visit(node: isl.ScheduleNode) -> bool:
        if is_band(node) and any(node.band_member_get_coincident(at) for at in range(node.band_n_member())):
            return True
        return any(visit(node.child(at)) for at in range(node.n_children()))

    return visit(schedule.get_root())


def _are_long(statement: Statement, sizes: Sequence[int]) -> bool:
    """Whether each loop has several tiles."""
    for dim, size in enumerate(sizes):
        low, high = statement.domain.dim_min_val(dim), statement.domain.dim_max_val(dim)
        if low.is_int() and high.is_int() and int(str(high.sub(low))) + 1 < 2 * size:
            return False
    return True


def with_wavefronts(schedule: isl.Schedule, skewed: Skewed, sizes: Sequence[int]) -> isl.Schedule:
    """Tiles of `sizes`, and in a tile the wavefronts, whose iterations are written out; replaces the order of `schedule`.

    `sizes` are those of all skewed loops, 0 for the innermost.
    """
    node = schedule.get_root().child(0)
    cut = [(value, size) for value, size in zip(skewed.values, sizes, strict=True) if size]
    numbers = [tile_number(value, size) for value, size in cut]
    places = [place_in_tile(value, size) for value, size in cut if size > 1]
    waves = reduce(lambda one, other: one.add(other), skewed.values)
    whole = _whole_waves([*numbers, waves, *places], [size for _, size in cut if size > 1])
    loops = [LoopToBuild(number, LoopMark(LOOP, f"tile{size}")) for number, (_, size) in zip(numbers, cut, strict=True)]
    return replace_chain(
        node, [*loops, LoopToBuild(waves, LoopMark(), whole), *(LoopToBuild(place, LoopMark(UNROLL)) for place in places)]
    ).get_schedule()


def _whole_waves(values: Sequence[isl.UnionPwAff], sizes: Sequence[int]) -> isl.Set:
    """The iterations of the loops around points, which are the last of `values`, that have all points of `sizes`."""
    maps = [isl.UnionMap.from_union_pw_aff(value) for value in values]
    points = isl.Set.from_union_set(reduce(lambda one, other: one.flat_range_product(other), maps).range())
    around, partial = tiles_of(points, sizes)
    return around.subtract(partial).coalesce()
