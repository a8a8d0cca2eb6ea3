"""Choices of packed matrices."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import candidates, setting


@dataclass(frozen=True)
class PackingPolicy:
    """Which matrices are packed, in blocks of how many columns, and what a copy costs."""

    packed_columns: tuple[int, ...] = candidates((48, 64, 32, 16), "columns", "blocks of f32 where there are many registers")
    byte_columns: tuple[int, ...] = candidates((64, 48, 32, 16), "columns", "blocks of bytes where there are many registers")
    packed_vectors: tuple[int, ...] = candidates((2, 1), "vectors", "vectors of a block where registers are few")
    wide_columns: int = setting(192, "columns", "columns of a matrix whose last block, filled up, is a small part", 1, 4096)
    summed_vectors: int = setting(8, "vectors", "vectors of a column that pay for sums over lanes", 1, 256)
    pairs_bytes: int = setting(1024, "B", "the smallest f32 matrix that is packed for dot products of bf16", 1, 1 << 24)
    summed_columns: float = setting(3 / 4, "share", "part of a vector that columns summed along themselves fill at most", 0, 1)
    copied_rows: int = setting(96, "rows", "rows of the other operand that pay for packing a matrix at the call", 1, 4096)
    copied_rows_few_registers: int = setting(64, "rows", "the same where registers are few and so panels narrow", 1, 4096)
    copied_rows_conflicting: int = setting(32, "rows", "the same where rows of the matrix share a set of L1, too", 1, 4096)
    copied_element_cycles: float = setting(1.3, "cycles", "a copied element", 0, 32)
    summed_row_cycles: float = setting(8.0, "cycles", "a result that is summed over lanes, against one that is not", 0, 128)
    summed_step_cycles: float = setting(0.01, "cycles", "a step of such a sum", 0, 4)
    transposing_rows: int = setting(16, "rows", "rows of the other operand that pay for another order of a matrix", 1, 512)
    most_copied_rows: int = setting(192, "rows", "rows up to which panels are copied in turn and not all before", 1, 4096, 4096)
    copied_panels: int = setting(4, "panels", "panels that are copied at once", 1, 32)
