"""How many iterations of a loop each step takes that is unrolled and jammed: heights of register tiles.

Each step reads a whole panel of what all its iterations share, so there should be as few as can be, and none much lower than
the others: a step of one or two iterations takes about as long as one of four, since its sums wait for each other.
"""

from __future__ import annotations

import math

from dlc.analysis.dim_bounds import DimBounds
from dlc.lowering.affine.cost.latencies import PRODUCT_LATENCY
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.policy import policy

Steps = list[tuple[int, int]]
"""(steps, iterations of each)."""


def balanced(extent: int, most: int) -> Steps:
    """What covers `extent` in as few steps of at most `most` as there can be, of like sizes."""
    if extent <= 0:
        return []
    count = -(-extent // most)
    low, higher = divmod(extent, count)
    return [(trips, size) for trips, size in ((higher, low + 1), (count - higher, low)) if trips]


def most_left(factor: int) -> int:
    """The highest step of what is left over of a loop of unknown extent."""
    return min(factor, policy().tiles.exact_heights)


def open_steps(extent: int, factor: int) -> Steps:
    """The steps that a loop of unknown extent takes where it turns out to have `extent` iterations.

    They have `factor` iterations, but for what is left over: that is taken with the last whole step, in balanced steps. Seven
    iterations in steps of six are 4 and 3, not 6 and 1.
    """
    whole, rest = divmod(extent, factor)
    whole = max(whole - bool(rest), 0)
    return [*([(whole, factor)] if whole else []), *balanced(extent - whole * factor, most_left(factor))]


def open_heights(factor: int, known: DimBounds) -> list[int]:
    """The heights that `open_steps` may come to with the extents that `known` admits, from the highest down; `factor` is one."""
    first = known.nearest(1)
    extents = known.sizes(first + math.lcm(factor, known.multiple) + 2 * factor)
    return sorted({factor, *(size for extent in extents for _, size in open_steps(extent, factor))}, reverse=True)


def vectors_of_step(nest: Nest, tile: Tile, height: int) -> int:
    """Vectors of a step of `height` iterations of the loop that `tile` unrolls and jams.

    Few rows take about as many vectors as keep multiply-add units busy, a multiple of those of the tile: fewer sums wait for each
    other. That is for loops of unknown extent, where the number of rows cannot choose the tile, and for lanes of known extent,
    which end in one step and not in single vectors.
    """
    if not _has_open_rows(nest, tile):
        return tile.vectors
    most = min(tile.body_copies // height, (nest.lane_loop(tile).extent or 0) // tile.lanes)
    times = round(policy().cost.issued * PRODUCT_LATENCY / (tile.vectors * height))
    return tile.vectors * max(1, min(times, most // tile.vectors))


def _has_open_rows(nest: Nest, tile: Tile) -> bool:
    """Whether `tile` keeps sums of a number of rows that run time knows, in lanes of a known number of columns."""
    if nest.chain is None or nest.reduces(tile) or len(tile.unroll_and_jam) != 1:
        return False
    ((rows, _),) = nest.unroll_and_jam(tile)
    return rows.extent is None and nest.lane_loop(tile).extent is not None
