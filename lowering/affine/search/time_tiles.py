"""Tiles across time: loops that are run many times over an array are cut, so that a tile stays in the second-level cache.

A band of skewed loops can be tiled (`skewing.py`): no dependence goes from a tile to one before it. So loops over its tiles go
around any order that keeps the dependences by itself: what lies in different tiles is ordered by them, the rest as before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_marks import LOOP, LoopMark, mark_band
from dlc.lowering.affine.polyhedral.loop_values import tile_number
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.search.scheduler import ScheduleUnit
from dlc.lowering.affine.search.skewing import Skewed
from dlc.lowering.affine.search.tile_footprints import Footprints, footprints
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

TILE = "tile"
"""The name of the mark below the loops over tiles, which keeps others from moving loops across."""


@dataclass(frozen=True, eq=False)
class _Model:
    """Cycles for memory and for the bounds of loops, of each iteration, by the sizes of tiles."""

    extents: tuple[int, ...]
    """Iterations of the loops of the deepest statement."""
    facts: Machine
    of_each: tuple[Footprints, ...]
    """What a tile of all loops touches, for each of the deepest statements."""

    def uncut(self) -> float:
        """Each iteration of the outermost loop goes through all arrays, statement by statement."""
        sizes = [1, *self.extents[1:]]
        total = sum(one.bytes(sizes) for one in self.of_each)
        return self._lines(total) * policy().cost.exposed_far_line / (len(self.of_each) * math.prod(sizes)) + self._sweep(sizes)

    def cut(self, sizes: Sequence[int], whole: Footprints) -> float:
        """Tiles of `sizes`, 0 for a loop that is not cut; infinite where they do not fit."""
        last = max(at for at, size in enumerate(sizes) if size)
        taken = [size or extent for size, extent in zip(sizes, self.extents, strict=True)]
        here = whole.bytes([*taken, *self.extents])
        if here > policy().blocks.resident_share * self.facts.l2_bytes:
            return math.inf
        further = [2 * size if at == last else size for at, size in enumerate(taken)]
        fresh = whole.bytes([*further, *self.extents]) - here
        ends = policy().cost.loop_entry / taken[-1] if sizes[-1] else 0.0
        return (
            self._lines(fresh) * policy().cost.exposed_far_line / (len(self.of_each) * math.prod(taken))
            + self._sweep([1, *taken[1:]])
            + ends
        )

    def _sweep(self, sizes: Sequence[int]) -> float:
        """One iteration of the outermost loop in a tile: loops begin, lines come from the second-level cache.

        The first-level cache keeps the rows that the next one needs, or does not.
        """
        total = sum(policy().cost.loop_entry / math.prod(sizes[at:]) for at in range(1, len(sizes)))
        row = [*[1] * (len(sizes) - 1), sizes[-1]]
        for touched in self.of_each:
            box = row if touched.bytes(row) > policy().blocks.resident_share * self.facts.l1_bytes else sizes
            total += self._lines(touched.bytes(box)) * policy().cost.exposed_near_line / math.prod(box) / len(self.of_each)
        return total

    def _lines(self, count: float) -> float:
        return count / self.facts.line_bytes


def choose_time_tiles(part: ScheduleUnit, skewed: Skewed, facts: Machine) -> tuple[int, ...] | None:
    """The sizes of the tiles of each skewed loop, 0 where it is not cut; None where tiles do not pay.

    They pay where the arrays are larger than the second-level cache and a tile that fits takes less for memory than it costs.
    """
    extents = _extents(part.statements)
    if extents is None:
        return None
    each = [footprints([one], skewed, range(len(extents))) for one in part.statements if len(one.loops) == len(extents)]
    if None in each:
        return None
    model = _Model(extents, facts, tuple(one for one in each if one is not None))
    everything = footprints(part.statements, skewed, ())
    if everything is None or everything.bytes([1] * len(extents) + list(extents)) <= facts.l2_bytes:
        return None
    for rows in ((0,), policy().blocks.row_blocks):
        choices = [(model.cut(sizes, touched), sizes) for sizes, touched in _choices(part, skewed, extents, rows)]
        cycles, sizes = min(choices, default=(math.inf, ()))
        if cycles < model.uncut():
            return sizes
    return None


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


def _choices(
    part: ScheduleUnit, skewed: Skewed, extents: Sequence[int], rows: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Footprints]]:
    """The sizes that are weighed, with what their tiles touch; `rows` are those of the innermost loop."""
    cut = range(len(extents) - (0 in rows))
    touched = footprints(part.statements, skewed, cut) if len(cut) > 1 else None
    if touched is None:
        return
    for sizes in product(policy().blocks.time_blocks, *[policy().blocks.space_blocks] * (len(extents) - 2), rows):
        if all(2 * size <= extent for size, extent in zip(sizes, extents, strict=True)):
            yield sizes, touched


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
