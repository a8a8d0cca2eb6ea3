"""Kernels of `wgmma` whose panels TMA brings: one thread of a warp of its own, the producer, begins all copies.

producer:   for each tile: wait until its stage is empty; begin to copy both panels, which fill the stage
warpgroups: for each tile: wait until its stage is full; multiply; wait; the stage is empty
            epilogue on the sums
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from dlc._mlir import affine, arith, ir, memref
from dlc.lowering.affine_to_gpu.tensor_cores.barriers import StageBarriers
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile, barrier_bytes, panels_of
from dlc.lowering.affine_to_gpu.tensor_cores.tensor_maps import TensorCopy, TensorMap
from dlc.lowering.affine_to_gpu.tensor_cores.warpgroup_kernels import WarpgroupKernel
from dlc.targets.machine import BARRIER_BYTES, GpuMachine


def tensor_maps_of(contraction: Contraction, shape: MmaShape, tile: MmaTile) -> list[TensorMap]:
    """Of both operands, the left one first; none where TMA cannot bring both."""
    panels = panels_of(contraction, shape, tile)
    found = [described for panel in panels if (described := TensorMap.of(panel, contraction.batch))]
    return found if len(found) == len(panels) else []


@dataclass(eq=False)
class TmaKernel(WarpgroupKernel):
    """The kernel of a contraction by `wgmma` on panels by TMA. Behind the panels lie two barriers for each stage.

    Each warp tells that a stage is empty, since each waits for its own products.
    """

    @classmethod
    def threads(cls, tile: MmaTile, facts: GpuMachine) -> int:
        """With those of the producer."""
        return super().threads(tile, facts) + facts.warp_threads

    @classmethod
    def shared_bytes(cls, tile: MmaTile, element: int, facts: GpuMachine) -> int:
        """With the barriers."""
        return super().shared_bytes(tile, element, facts) + barrier_bytes(tile.stages)

    def emit(self) -> None:
        """Emit the body, and the tensor maps before the launch."""
        copies = self._tensor_copies()
        full, empty = self._barriers()
        self._begin(full, empty)
        consumers = self._consumers
        with self.extents.when([(self._thread - consumers, True)]):
            self._produce(copies, full, empty)
        with self.extents.when([(consumers - 1 - self._thread, False)]):
            self._epilogue(self._consume(copies, full, empty))

    @property
    def _consumers(self) -> int:
        """Threads of the warpgroups."""
        return prod(self.tile.warps) * self.facts.warp_threads

    def _tensor_copies(self) -> list[TensorCopy]:
        maps = tensor_maps_of(self.contraction, self.shape, self.tile)
        with ir.InsertionPoint(self.body.owner.operation):
            pointers = [described.create() for described in maps]
        targets = self._targets([described.panel for described in maps])
        parts = zip(maps, pointers, targets, self._block, strict=True)
        return [TensorCopy(*part[:3], self.extents, part[3], self._batch) for part in parts]

    def _barriers(self) -> tuple[StageBarriers, StageBarriers]:
        """Those of stages that are full, and of those that are empty."""
        start, found = self.tile.shared_bytes(self.contraction.lhs.bytes), []
        kind = ir.MemRefType.get([self.tile.stages], ir.IntegerType.get_signless(64), memory_space=self._memory.type.memory_space)
        for number in range(2):
            place = arith.constant(ir.IndexType.get(), start + number * self.tile.stages * BARRIER_BYTES)
            found.append(StageBarriers(memref.view(kind, self._memory, place, []), self.tile.stages, self.extents))
        return found[0], found[1]

    def _begin(self, full: StageBarriers, empty: StageBarriers) -> None:
        """Emit the barriers' begin by one thread, which the others and TMA see."""
        with self.extents.when([(self._thread, True)]):
            full.initialize(1)
            empty.initialize(prod(self.tile.warps))
            ir.Operation.create("nvvm.fence.mbarrier.init")
        ir.Operation.create("gpu.barrier")

    def _stage(self, number: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The stage of a tile of the sum, and how often it was used before."""
        return ir.AffineExpr.get_mod(number, self.tile.stages), ir.AffineExpr.get_floor_div(number, self.tile.stages)

    def _produce(self, copies: Sequence[TensorCopy], full: StageBarriers, empty: StageBarriers) -> None:
        """Emit the copies of all tiles of the sum."""
        loop = self._loop_of_steps()
        with ir.InsertionPoint(loop.body):
            tile = self.extents.dim(loop.induction_variable)
            stage, turn = self._stage(tile)
            empty.wait(stage, turn - 1)
            barrier = full.expect(stage, sum(copy.panel.bytes for copy in copies))
            for copy in copies:
                copy.start(tile, stage, barrier)
            affine.AffineYieldOp([])

    def _consume(self, copies: Sequence[TensorCopy], full: StageBarriers, empty: StageBarriers) -> list[ir.Value]:
        """Emit the products of all tiles of the sum."""
        loop = self._loop_of_steps(self._starts())
        with ir.InsertionPoint(loop.body):
            stage, turn = self._stage(self.extents.dim(loop.induction_variable))
            full.wait(stage, turn)
            sums = self._multiplied(stage, copies, list(loop.inner_iter_args))
            with self.extents.when([(self._lane, True)]):
                empty.arrive(stage)
            affine.AffineYieldOp(sums)
        return list(loop.results)
