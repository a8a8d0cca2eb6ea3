"""Barriers in shared memory that threads and TMA arrive at (`mbarrier`, PTX ISA).

A barrier's phase ends when as many threads have arrived as it waits for, and all bytes that they announced have come.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import pointer_to, shared_address
from dlc.targets.machine import BARRIER_BYTES, BARRIER_WAIT


@dataclass(frozen=True, eq=False)
class StageBarriers:
    """A barrier for each of `stages` stages, side by side in `memory`."""

    memory: ir.Value
    stages: int
    extents: LoopExtents

    def at(self, stage: ir.AffineExpr) -> ir.Value:
        """Emit the address of a stage's barrier."""
        return pointer_to(shared_address(self.memory, self.extents, stage * BARRIER_BYTES))

    def initialize(self, arrivals: int) -> None:
        """Emit the begin of the first phase of all, which as many threads end."""
        for stage in range(self.stages):
            ir.Operation.create("nvvm.mbarrier.init", [], [self.at(ir.AffineExpr.get_constant(stage)), _word(arrivals)])

    def expect(self, stage: ir.AffineExpr, count: int) -> ir.Value:
        """Emit the arrival of this thread, which announces so many bytes; the barrier that they are to be counted by."""
        barrier = self.at(stage)
        ir.Operation.create("nvvm.mbarrier.arrive.expect_tx", [], [barrier, _word(count)])
        return barrier

    def arrive(self, stage: ir.AffineExpr) -> None:
        """Emit the arrival of this thread."""
        ir.Operation.create("nvvm.mbarrier.arrive", [ir.IntegerType.get_signless(64)], [self.at(stage)])

    def wait(self, stage: ir.AffineExpr, turn: ir.AffineExpr) -> None:
        """Emit the wait for the end of phase `turn`, counted from 0; for phase -1 there is none."""
        parity = arith.index_cast(ir.IntegerType.get_signless(32), self.extents.value(ir.AffineExpr.get_mod(turn + 2, 2)))
        ir.Operation.create("nvvm.mbarrier.try_wait.parity", [], [self.at(stage), parity, _word(BARRIER_WAIT)])


def _word(number: int) -> ir.Value:
    return arith.constant(ir.IntegerType.get_signless(32), number)
