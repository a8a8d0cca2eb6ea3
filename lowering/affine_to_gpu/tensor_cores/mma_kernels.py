"""Kernels that compute contractions on tensor cores: copies some tiles of the sum ahead, fragments, sums in registers.

copy tiles 0 .. stages - 2 of the sum
for each tile: wait for it; barrier; begin to copy the tile stages - 1 ahead; multiply
epilogue on the sums
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine_to_gpu.extents import Extents
from dlc.lowering.affine_to_gpu.launches import empty_launch, shared_memory
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads, element_of, multiply
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, accumulator_type
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile, grid_of, panels_of
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import PanelCopy, flat
from dlc.targets.machine import GpuMachine

_BLOCK_X, _BLOCK_Y, _BLOCK_Z, _THREAD_X = range(4)
"""Arguments of a launch's body."""


def launch_contraction(contraction: Contraction, shape: MmaShape, tile: MmaTile, facts: GpuMachine) -> None:
    """Emit the launch of the kernel at the insertion point; the loops stay."""
    for name in ("gpu", "memref", "nvgpu", "nvvm", "vector"):
        _ = ir.Context.current.dialects[name]  # loads it
    index = ir.IndexType.get()
    threads = prod(tile.warps) * facts.warp_threads
    sizes = [arith.constant(index, size) for size in (*grid_of(contraction, tile), threads, 1, 1)]
    body = empty_launch(sizes)
    with ir.InsertionPoint(list(body.operations)[-1]):
        _MmaKernel(contraction, shape, tile, facts, body).emit()


@dataclass(eq=False)
class _MmaKernel:
    contraction: Contraction
    shape: MmaShape
    tile: MmaTile
    facts: GpuMachine
    body: ir.Block

    @cached_property
    def extents(self) -> Extents:
        """Expressions over the launch's arguments."""
        return Extents()

    def emit(self) -> None:
        """Emit the body."""
        copies, loads = self._operands()
        self._first_tiles(copies)
        sums = self._sums(copies, loads)
        self._epilogue(sums)

    def _argument(self, number: int) -> ir.AffineExpr:
        return self.extents.dim(self.body.arguments[number])

    @property
    def _lane(self) -> ir.AffineExpr:
        return ir.AffineExpr.get_mod(self._argument(_THREAD_X), self.facts.warp_threads)

    @property
    def _warp(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The warp's first row and column in its block."""
        number = ir.AffineExpr.get_floor_div(self._argument(_THREAD_X), self.facts.warp_threads)
        down, across = ir.AffineExpr.get_floor_div(number, self.tile.warps[1]), ir.AffineExpr.get_mod(number, self.tile.warps[1])
        return down * self.tile.warp_rows, across * self.tile.warp_columns

    @property
    def _block(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The block's first row and column."""
        return self._argument(_BLOCK_Y) * self.tile.rows, self._argument(_BLOCK_X) * self.tile.columns

    @property
    def _batch(self) -> dict[ir.Value, ir.AffineExpr]:
        return {loop.iv: place for loop, place in self.contraction.batch.places(self._argument(_BLOCK_Z))}

    def _operands(self) -> tuple[list[PanelCopy], list[FragmentLoads]]:
        """Copies and loads of both operands, the left one first."""
        copies, loads = [], []
        for panel, first, warp in zip(panels_of(self.contraction, self.tile), self._block, self._warp, strict=True):
            kind = ir.MemRefType.get([self.tile.stages, *panel.shape], panel.operand.element)
            target = shared_memory(self.body, kind, ir.Location.current)
            threads = prod(self.tile.warps) * self.facts.warp_threads
            source, thread = flat(panel.operand.memref), self._argument(_THREAD_X)
            copies.append(PanelCopy(panel, source, target, self.extents, thread, threads, first, self._batch, self.facts))
            loads.append(FragmentLoads(panel, self.shape, target, self.extents, self._lane, warp))
        return copies, loads

    def _first_tiles(self, copies: Sequence[PanelCopy]) -> None:
        """Emit the copies of what the first steps multiply, a group each."""
        ahead = self.tile.stages - 1
        is_inside = ahead * self.tile.depth <= self.contraction.sums.extent
        loop = affine.AffineForOp(0, ahead)
        with ir.InsertionPoint(loop.body):
            tile = self.extents.dim(loop.induction_variable)
            for copy in copies:
                if copy.is_async:
                    copy.start(tile, tile, is_inside)
                else:
                    copy.store(copy.load(tile, is_inside), tile)
            _end_group()
            affine.AffineYieldOp([])

    def _sums(self, copies: Sequence[PanelCopy], loads: Sequence[FragmentLoads]) -> list[ir.Value]:
        """Emit the loop over tiles of the sum; the warp's sums by fragments, rows outermost."""
        steps = -(-self.contraction.sums.extent // self.tile.depth)
        starts = [self._start()] * (self.tile.warp_rows // self.shape.rows * (self.tile.warp_columns // self.shape.columns))
        loop = affine.AffineForOp(0, steps, iter_args=starts)
        with ir.InsertionPoint(loop.body):
            sums = self._step(self.extents.dim(loop.induction_variable), copies, loads, list(loop.inner_iter_args))
            affine.AffineYieldOp(sums)
        return list(loop.results)

    def _start(self) -> ir.Value:
        """Emit the sums of a fragment before the first product."""
        kind = ir.VectorType(accumulator_type(self.contraction.total.type))
        element = kind.element_type
        zero = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
        value = self.contraction.start.owner.attributes["value"] if self.contraction.starts_at_constant else zero
        return arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, value))

    def _step(
        self, number: ir.AffineExpr, copies: Sequence[PanelCopy], loads: Sequence[FragmentLoads], sums: list[ir.Value]
    ) -> list[ir.Value]:
        """Emit one tile of the sum."""
        stages = self.tile.stages
        count = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), stages - 2)
        ir.Operation.create("nvvm.cp.async.wait.group", attributes={"n": count})
        ir.Operation.create("gpu.barrier")
        ahead = number + (stages - 1)
        stage = ir.AffineExpr.get_mod(ahead, stages)
        for copy in copies:
            if copy.is_async:
                copy.start(ahead, stage, False)
        _end_group()
        held = [(copy, copy.load(ahead, False)) for copy in copies if not copy.is_async]
        sums = self._multiplied(self.extents.value(ir.AffineExpr.get_mod(number, stages)), loads, sums)
        for copy, values in held:
            copy.store(values, stage)
        return sums

    def _multiplied(self, stage: ir.Value, loads: Sequence[FragmentLoads], sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the products of a tile that is in shared memory."""
        sums, (left, right) = list(sums), loads
        rows, columns = range(0, self.tile.warp_rows, self.shape.rows), range(0, self.tile.warp_columns, 2 * self.shape.columns)
        for step in range(self.tile.depth // self.shape.depth):
            below = [left.rows(stage, at, step) for at in rows]
            beside = [one for at in columns for one in right.columns(stage, at, step)]
            for place, (lhs, rhs) in enumerate((lhs, rhs) for lhs in below for rhs in beside):
                sums[place] = multiply(self.shape, lhs, rhs, sums[place])
        return sums

    def _epilogue(self, sums: Sequence[ir.Value]) -> None:
        """Emit what is done to the sums: a thread holds two neighbours in each of two rows of a fragment."""
        epilogue = Epilogue(self.contraction, self.extents, self._batch, (self.tile.rows, self.tile.columns))
        (row, column), (below, beside) = self._block, self._warp
        row = row + below + ir.AffineExpr.get_floor_div(self._lane, 4)
        column = column + beside + ir.AffineExpr.get_mod(self._lane, 4) * 2
        across = self.tile.warp_columns // self.shape.columns
        for place, fragment in enumerate(sums):
            at = column + place % across * self.shape.columns
            for half in range(2):
                down = row + (place // across * self.shape.rows + half * self.shape.rows // 2)
                epilogue.emit(down, at, [element_of(fragment, [half, side]) for side in range(2)])


def _end_group() -> None:
    """Emit the end of a group of copies, which may be empty."""
    ir.Operation.create("nvvm.cp.async.commit.group")
