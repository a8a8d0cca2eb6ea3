"""What a tile has to fit: the registers of a machine, and its caches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import ir
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of


@dataclass(frozen=True)
class Caches:
    """What costs read of a machine's caches: bytes of the first two levels, of a way of the second one, and of a line.

    Rows that lie a multiple of `l2_way_bytes` apart share sets of the second level.
    """

    l1_bytes: int
    l2_bytes: int
    l2_way_bytes: int
    line_bytes: int

    @classmethod
    def of(cls, facts: Machine) -> Caches:
        """Those of a CPU."""
        return cls(facts.l1_bytes, facts.l2_bytes, facts.l2_way_bytes, facts.line_bytes)

    def falls_out(self, rows: int, pitch: int) -> bool:
        """Whether a line of each of so many rows, `pitch` bytes apart, does not stay in the second level."""
        return rows * math.gcd(pitch, self.l2_way_bytes) > self.l2_bytes

    def weight(self, footprint: float) -> float:
        """What a byte counts that is read again after so many others."""
        cost, blocks = policy().cost, policy().blocks
        if footprint <= self.l1_bytes * blocks.working_share:
            return 0.0
        if footprint <= self.l2_bytes * blocks.half_share:
            return cost.half_l2_weight
        return cost.whole_l2_weight if footprint <= self.l2_bytes else cost.memory_weight


@dataclass(frozen=True)
class TileLimits:
    """The vector registers to fill, which may be fewer or shorter than those of the `machine`, and the machine."""

    vector_bits: int
    registers: int
    machine: Machine

    @cached_property
    def caches(self) -> Caches:
        """The caches that panels of operands stay in."""
        return Caches.of(self.machine)

    @classmethod
    def of(cls, op: ir.Operation, vector_bits: int = 0, registers: int = 0) -> TileLimits:
        """The given numbers; the target's where they are 0. `PassFailure` at `op` when no vector fits them."""
        machine = facts_of(op)
        bits = vector_bits or machine.vector_bits
        if bits < 64 or bits & (bits - 1):
            raise PassFailure(op, f"no vectors of {bits} bits", "give a power of two from 64 on as vector-bits")
        return cls(bits, registers or machine.vector_registers, machine)
