"""Choices of buffers and of what goes past the caches."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class MemoryPolicy:
    """Where values lie, and how they are stored."""

    streamed_caches: int = setting(4, "L2", "second-level caches whose size a result must have to go past them", 1, 64)
    near_line_cycles: int = setting(4, "cycles", "a line from a last cache that is better than memory for several cores", 0, 64)
    light_line_work: int = setting(64, "instructions", "work for a written line below which a nest waits for memory", 1, 4096)
    stack_bytes: int = setting(64 << 10, "B", "scratch memory of a function that lies on the stack", 0, 1 << 20)
    padded_copies: float = setting(2.5, "copies", "how often a row may be padded by blocks", 1, 16)
    fill_share: float = setting(0.5, "share", "stores of a fill that those around its box may take", 0, 1)
    aligned_vectors: int = setting(16, "vectors", "vectors of a row that is moved to where lines begin", 1, 1024)
    transposed_rows: int = setting(64, "rows", "rows of a transpose's target that are written in turn", 4, 512)
    unknown_transposed_rows: int = setting(32, "rows", "the same where their distance is not known", 4, 512)
    largest_transpose: int = setting(16, "vectors", "vectors of a square that is transposed in registers at most", 4, 32)
    smallest_transpose: int = setting(4, "vectors", "and at least", 2, 16)
    paged_bytes: int = setting(8 << 20, "B", "rows from which on a reduction reads pages side by side", 1 << 16, 1 << 34, 1 << 34)
