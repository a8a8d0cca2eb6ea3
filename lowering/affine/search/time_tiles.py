"""Tiles across time: loops that are run many times over an array are cut, so that a tile stays in the second-level cache.

A band of skewed loops can be tiled (`skewing.py`): no dependence goes from a tile to one before it. So loops over its tiles may be
put around any order that keeps the dependences: iterations of different tiles run in the order of tiles, and those of one tile as
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import product

import islpy as isl

from dlc.lowering.affine.cost.time_tile_costs import SkewedNestCost, TimeTiles
from dlc.lowering.affine.polyhedral.loop_marks import LOOP, LoopMark, mark_band
from dlc.lowering.affine.polyhedral.loop_values import tile_number
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.search.candidates import Generator, search, weighed
from dlc.lowering.affine.search.scheduler import ScheduleUnit
from dlc.lowering.affine.search.skewing import Skewed
from dlc.lowering.affine.search.tile_footprints import footprints
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

TILE = "tile"
"""The name of the mark below the loops over tiles, which keeps others from moving loops across."""


def choose_time_tiles(part: ScheduleUnit, skewed: Skewed, machine: Machine) -> tuple[int, ...] | None:
    """The sizes of the tiles of each skewed loop, 0 where it is not cut; None where tiles do not pay.

    They pay where the arrays are larger than the second-level cache and a tile that fits takes less for memory than it costs.
    """
    extents = _extents(part.statements)
    if extents is None:
        return None
    each = [footprints([one], skewed, range(len(extents))) for one in part.statements if len(one.loops) == len(extents)]
    if None in each:
        return None
    nest = SkewedNestCost(extents, tuple(one for one in each if one is not None))
    everything = footprints(part.statements, skewed, ())
    if everything is None or everything.bytes([1] * len(extents) + list(extents)) <= machine.l2_bytes:
        return None
    generators: list[Generator[TimeTiles | None]] = [
        lambda: [None],
        partial(_choices, part, skewed, extents, (0,)),
        partial(_choices, part, skewed, extents, policy().blocks.row_blocks),
    ]
    best = search(generators, weighed(nest, machine), enough=1.0)
    return None if best is None or best.schedule is None else best.schedule.sizes


def _extents(statements: Sequence[Statement]) -> tuple[int, ...] | None:
    """The iterations of the loops of the deepest statement; None where they are not bounded."""
    deepest = max(statements, key=lambda one: len(one.loops))
    found = []
    for dim in range(len(deepest.loops)):
        low, high = deepest.domain.dim_min_val(dim), deepest.domain.dim_max_val(dim)
        if not (low.is_int() and high.is_int()):
            return None
        found.append(int(str(high.sub(low))) + 1)
    return tuple(found)


def _choices(part: ScheduleUnit, skewed: Skewed, extents: Sequence[int], rows: Sequence[int]) -> Iterator[TimeTiles]:
    """The tiles that are weighed; `rows` are the sizes of those of the innermost loop."""
    cut = range(len(extents) - (0 in rows))
    touched = footprints(part.statements, skewed, cut) if len(cut) > 1 else None
    if touched is None:
        return
    for sizes in product(policy().blocks.time_blocks, *[policy().blocks.space_blocks] * (len(extents) - 2), rows):
        if all(2 * size <= extent for size, extent in zip(sizes, extents, strict=True)):
            yield TimeTiles(sizes, touched)


def with_time_tiles(schedule: isl.Schedule, skewed: Skewed, sizes: Sequence[int]) -> isl.Schedule:
    """Loops over the tiles of `sizes` (0 for a skewed loop that is not cut) around `schedule`, an order of all statements.

    No dependence goes down along any tile's number, so several threads may run rows of tiles, see `doacross.py`.
    """
    cut = [(value, size) for value, size in zip(skewed.values, sizes, strict=True) if size]
    numbers = [tile_number(value, size) for value, size in cut]
    marks = [LoopMark(LOOP, f"tile{size}") for _, size in cut]
    whole = reduce(isl.MultiUnionPwAff.flat_range_product, map(isl.MultiUnionPwAff.from_union_pw_aff, numbers))
    band = schedule.insert_partial_schedule(whole).get_root().child(0).band_set_permutable(True)
    return mark_band(band, marks).child(0).child(0).insert_mark(isl.Id(TILE)).get_schedule()
