"""Choices of what threads share."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class ParallelPolicy:
    """Which loops are shared by threads, and in what parts."""

    even_share: float = setting(0.1, "share", "by how much first and last iterations differ that get even parts", 0, 1)
    enough_iterations: int = setting(64, "trips", "iterations that any usual machine cuts evenly", 1, 4096)
    block_iterations: int = setting(256, "blocks", "blocks into which merged light loops are cut", 1, 1 << 16)
    serial_work_factor: int = setting(3, "ratio", "least work of a parallel loop in serial ones to that of others", 1, 64)
    light_instructions: int = setting(100, "instructions", "an iteration beside which finding merged indices counts", 0, 1 << 16)
    beside_gain: int = setting(10, "ratio", "all work to what each job does again, from which one job is the whole nest", 1, 1000)
    repeated_part: int = setting(20, "ratio", "work of a piece to what it does again, at least", 1, 1000)
    copy_instructions: int = setting(8, "instructions", "instructions in the time of one of a copy", 1, 128)
    fork_instructions: int = setting(60000, "instructions", "instructions in the time of asking the pool and waiting", 0, 1 << 30)
    fewest_row_blocks: int = setting(16, "blocks", "blocks of rows that several threads can share", 1, 256)
    fewest_private_uses: int = setting(
        16, "uses", "uses of each element of a buffer that pay for a copy of it per thread", 1, 1 << 20
    )
    side_by_side: int = setting(16, "trips", "iterations of a wavefront at once", 1, 64)
