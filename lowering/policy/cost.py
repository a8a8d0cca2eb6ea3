"""Weights of the cost models of loops. Cycles are those that other work does not hide, so that they are fitted, not facts."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class CostPolicy:
    """What instructions, lines and entries of loops count as."""

    assumed_trips: int = setting(64, "trips", "what a size counts as that is not known", 2, 1 << 16)
    assumed_inner_trips: int = setting(16, "trips", "what a loop counts as whose bounds are not known, for its work", 2, 1 << 16)
    assumed_elements: int = setting(1024, "elements", "what a dim of a buffer counts as that is not known", 2, 1 << 20)
    issued: float = setting(2.0, "1/cycle", "loads, and multiply-adds, that start in a cycle", 1, 8)
    exposed_far_line: float = setting(4.0, "cycles", "a line from beyond L2, of which other work hides most", 0, 64)
    exposed_near_line: float = setting(1.0, "cycles", "a line from L2, of which other work hides most", 0, 16)
    exposed_resident_line: float = setting(0.5, "cycles", "a line where blocks keep it near", 0, 16)
    exposed_vector_load: float = setting(0.5, "cycles", "a load of a vector from L2", 0, 8)
    exposed_scalar_load: float = setting(0.1, "cycles", "a load of a number for all lanes from L1", 0, 8)
    exposed_load: float = setting(0.25, "cycles", "a load of a polyhedral tile that other work does not hide", 0, 8)
    split_load_slots: float = setting(2.0, "loads", "more loads that a vector in two lines takes", 0, 8)
    horizontal_cycles: float = setting(8.0, "cycles", "the sum over the lanes of a vector", 0, 64)
    expensive_op: float = setting(12.0, "instructions", "a function of mathematics", 1, 128)
    gathered_element: float = setting(1.5, "instructions", "an element of a vector whose lanes do not lie side by side", 0, 16)
    shuffle_instructions: float = setting(2.0, "instructions", "a shuffle of a transpose in registers", 0, 16)
    scattered_part: float = setting(0.75, "cycles", "a shuffle or store of a part of a vector", 0, 16)
    followed_rows: int = setting(8, "rows", "rows that a core reads side by side at the full rate", 1, 64)
    half_l2_weight: float = setting(1.0, "weight", "a byte read again within half of L2", 0, 16)
    whole_l2_weight: float = setting(2.0, "weight", "a byte read again within L2", 0, 16)
    memory_weight: float = setting(4.0, "weight", "a byte read again from beyond", 0, 64)
    unfetched_weight: float = setting(2.0, "weight", "a byte of a vector that nothing fetches ahead", 0, 64)
    written_line: float = setting(1.5, "ratio", "a line that goes back to one that does not", 1, 4)
    page_walk: float = setting(12.0, "cycles", "a page that no table holds", 0, 256)
    row_start: float = setting(2.0, "cycles", "a row of a copied panel", 0, 64)
    copied_vector: float = setting(1.0, "cycles", "a vector of a copied panel", 0, 16)
    copied_part: float = setting(4.0, "cycles", "a part of a vector of it, which takes a mask", 0, 64)
    copied_transposed: float = setting(1.5, "cycles", "an element of it whose neighbours lie apart in memory", 0, 16)
    loop_entry: float = setting(20.0, "cycles", "to enter and leave an innermost loop, or begin a row of a tile", 0, 256)
    unmasked_rest: float = setting(8.0, "ratio", "copies that fill no tile, where masks are no registers", 1, 64)
