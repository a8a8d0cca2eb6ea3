"""How many blocks of a kernel a multiprocessor holds at a time."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.targets.machine import GpuMachine

_REGISTER_UNIT = 256
"""Registers are given to warps in units of so many."""

_RESERVED_SHARED = 1024
"""Bytes of shared memory that the system takes of each block from sm_80 on."""


@dataclass(frozen=True)
class Occupancy:
    """Blocks that a multiprocessor holds, the share of its threads that they are, and what keeps it from holding more."""

    blocks: int
    share: float
    limit: str


def occupancy_of(facts: GpuMachine, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """The occupancy of blocks of so many threads with so many registers each, and bytes of shared memory a block.

    After the CUDA C++ Programming Guide, "Multiprocessor Level"; no blocks where one takes more than there is.
    """
    warps = -(-threads // facts.warp_threads)
    taken = -(-registers * facts.warp_threads // _REGISTER_UNIT) * _REGISTER_UNIT
    reserved = _RESERVED_SHARED if int(facts.chip.removeprefix("sm_")) >= 80 else 0
    limits = {
        "threads": facts.threads_per_multiprocessor // (warps * facts.warp_threads),
        "blocks": facts.most_resident_blocks,
        "registers": facts.registers_per_multiprocessor // taken // warps if taken else facts.most_resident_blocks,
        "shared memory": facts.shared_per_multiprocessor // (shared_bytes + reserved)
        if shared_bytes
        else facts.most_resident_blocks,
    }
    limit = min(limits, key=lambda name: limits[name])
    blocks = limits[limit]
    return Occupancy(blocks, blocks * warps * facts.warp_threads / facts.threads_per_multiprocessor, limit)
