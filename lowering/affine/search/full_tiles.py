"""Which tiles have all of their points, so that code of their own needs no conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dlc.lowering.affine.dependences.band_nests import LoopToBuild


def tiles_of(points: isl.Set, sizes: Sequence[int]) -> tuple[isl.Set, isl.Set]:
    """The tiles that `points` lie in, whose last dims are places in a tile of `sizes`, and those that lack a place."""
    outer = points.dim(isl.dim_type.set) - len(sizes)
    tiles = points.project_out(isl.dim_type.set, outer, len(sizes))
    box = tiles.add_dims(isl.dim_type.set, len(sizes))
    for place, size in enumerate(sizes):
        box = box.lower_bound_val(isl.dim_type.set, outer + place, isl.Val(0))
        box = box.upper_bound_val(isl.dim_type.set, outer + place, isl.Val(size - 1))
    return tiles, box.subtract(points).project_out(isl.dim_type.set, outer, len(sizes))


@dataclass(frozen=True, eq=False)
class FullTiles:
    """Iterations of the loops around tiles: every one, and those that lack a point of their tile."""

    every: isl.Set
    partial: isl.Set


def full_tiles(node: isl.ScheduleNode, levels: Sequence[LoopToBuild], sizes: Sequence[int]) -> FullTiles:
    """For the iterations of all loops but the points', whether every statement that has a point has all of them."""
    times = node.get_prefix_schedule_union_map()
    for level in levels:
        times = times.flat_range_product(isl.UnionMap.from_union_pw_aff(level.value))
    domain = node.get_domain()
    whole: isl.Set | None = None
    partial: isl.Set | None = None
    ranges = times.intersect_domain(domain)
    statements = ranges.get_map_list()
    for at in range(statements.n_map()):
        points = statements.get_map(at).range()
        prefix, missing = tiles_of(points, sizes)
        whole = prefix if whole is None else whole.union(prefix)
        partial = missing if partial is None else partial.union(missing)
    assert whole is not None and partial is not None
    return FullTiles(whole, partial)


def isolated_tiles(full: FullTiles, tiles: int) -> tuple[int, isl.Set]:
    """The place from the outside of the loop to isolate full tiles at, and its iterations. It is the last of the `tiles` loops over
    tiles if the loops inside do not change which tiles are full, else the innermost loop."""
    inside = full.every.dim(isl.dim_type.set) - tiles
    every, partial = (one.project_out(isl.dim_type.set, tiles, inside) for one in (full.every, full.partial))
    outer = every.subtract(partial).coalesce()
    whole = full.every.subtract(full.partial).coalesce()
    lifted = outer.add_dims(isl.dim_type.set, inside).intersect(full.every)
    return (tiles - 1, outer) if whole.is_subset(lifted) else (tiles + inside - 1, whole)
