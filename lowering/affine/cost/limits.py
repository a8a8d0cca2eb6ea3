"""What a tile has to fit: the registers of a machine, and its caches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of


def falls_out(rows: int, pitch: int, machine: Machine) -> bool:
    """Whether a line of each of so many rows, `pitch` bytes apart, does not stay in the second-level cache.

    Rows that lie a multiple of a way's bytes apart share sets of it.
    """
    return rows * math.gcd(pitch, machine.l2_way_bytes) > machine.l2_bytes


def reread_weight(footprint: float, machine: Machine) -> float:
    """What a byte counts that is read again after so many others."""
    cost, blocks = policy().cost, policy().blocks
    if footprint <= machine.l1_bytes * blocks.working_share:
        return 0.0
    if footprint <= machine.l2_bytes * blocks.half_share:
        return cost.half_l2_weight
    return cost.whole_l2_weight if footprint <= machine.l2_bytes else cost.memory_weight


@dataclass(frozen=True)
class TileLimits:
    """The vector registers to fill, which may be fewer or shorter than those of the `machine`, and the machine."""

    vector_bits: int
    registers: int
    machine: Machine

    @classmethod
    def of(cls, op: ir.Operation, vector_bits: int = 0, registers: int = 0) -> TileLimits:
        """The given numbers; the target's where they are 0. `PassFailure` at `op` when no vector fits them."""
        machine = facts_of(op)
        bits = vector_bits or machine.vector_bits
        if bits < 64 or bits & (bits - 1):
            raise PassFailure(op, f"no vectors of {bits} bits", "give a power of two from 64 on as vector-bits")
        return cls(bits, registers or machine.vector_registers, machine)
