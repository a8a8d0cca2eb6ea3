"""Choices of register tiles: vectors, copies, unrolling, windows."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import candidates, setting


@dataclass(frozen=True)
class TilePolicy:
    """Sizes of tiles that are weighed, and bounds of them."""

    most_jam: int = setting(8, "copies", "copies of a loop in a tile of several vectors", 1, 32)
    tallest_jam: int = setting(16, "copies", "copies of a loop in a tile of one vector", 1, 32)
    exact_heights: int = setting(8, "copies", "copies of the highest step of rows that are left over, of an unknown number", 1, 16)
    most_vectors: int = setting(4, "vectors", "vectors of a step", 1, 16)
    most_vectors_alone: int = setting(12, "vectors", "vectors of a step where there is no loop to copy", 1, 32)
    whole_row_vectors: int = setting(8, "vectors", "a row of so many is not looped over", 1, 32)
    unrolled_steps: int = setting(4, "steps", "steps of a reduction that are written out", 1, 16)
    unrolled_byte_steps: int = setting(2, "steps", "the same for products of integers", 1, 16)
    fewest_scanned_lanes: int = setting(4, "lanes", "lanes from which prefixes are worth their shuffles", 2, 64)
    spaced_elements: int = setting(4, "elements", "distance of lanes that are still picked from neighbouring vectors", 1, 16)
    masked_rest_steps: int = setting(4, "steps", "whole steps beside which a rest gets code of its own", 1, 64)
    row_vectors: int = setting(4, "vectors", "vectors of a row of a window's tile", 1, 16)
    window_copies: int = setting(8, "vectors", "vectors of sums of a window's tile", 1, 32)
    window_rows: int = setting(2, "rows", "rows of a window's tile with channels last", 1, 8)
    window_row_caches: float = setting(1.5, "L1", "first-level caches that rows of a window may take", 0.1, 16)
    few_taps: int = setting(9, "taps", "taps that leave registers for two vectors of each, and that are written out as sums", 1, 64)
    fewest_vector_gain: int = setting(2, "ratio", "n lanes need at most one part in n of this of the instructions", 1, 16)
    tile_copies: tuple[int, ...] = candidates((1, 2, 4, 6, 8, 12, 14), "copies", "copies of a polyhedral tile")
    tile_vectors: tuple[int, ...] = candidates((1, 2, 3, 4, 6, 8), "vectors", "vectors of a polyhedral tile")
