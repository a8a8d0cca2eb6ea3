"""Choices of nests that run together."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class FusionPolicy:
    """Which nests share loops, and in blocks of how many rows."""

    most_block_rows: int = setting(32, "rows", "rows of a block at most", 1, 512)
    unknown_block_rows: int = setting(16, "rows", "rows of a block whose bytes are not known", 1, 512)
    tile_rows: int = setting(8, "rows", "rows that a register tile has, which use a vector again", 1, 32)
    full_l1_share: float = setting(1.0, "share", "part of L1 that a block takes where tiles have few rows", 0.1, 2)
    comparable_sizes: int = setting(8, "ratio", "iterations of nests that differ by more are not of one size", 1, 1 << 20, 1 << 20)
    few_iterations: int = setting(8, "trips", "a shared loop of fewer, larger iterations gains nothing", 1, 1024)
    large_iteration: int = setting(1 << 18, "points", "points of an iteration that make it large", 1, 1 << 40, 1 << 40)
    fused_loops: int = setting(8, "nests", "nests before one that it may share loops with", 1, 64)
    merged_rows_gain: float = setting(1.1, "ratio", "vectors that rows take alone to those merged, where windows are copied", 1, 8)
    merged_vector_cycles: float = setting(0.5, "cycles", "a vector of results and a step of their sums", 0, 16)
    merged_copy_cycles: float = setting(4.0, "cycles", "a vector that is copied into a window", 0, 64)
