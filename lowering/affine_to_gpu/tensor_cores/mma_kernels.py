"""Kernels that compute contractions on tensor cores: copies some tiles of the sum ahead, fragments, sums in registers.

copy tiles 0 .. stages - 2 of the sum
for each tile: wait for it; barrier; begin to copy the tile stages - 1 ahead; multiply
epilogue on the sums
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine_to_gpu.extents import Extents
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, empty_launch, load_kernel_dialects, shared_memory, views_of
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads, element_of, multiply
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, accumulator_type
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile, grid_of, panels_of
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy, end_group, flat, wait_for_groups
from dlc.targets.machine import GpuMachine

BLOCK_X, BLOCK_Y, BLOCK_Z, THREAD_X = range(4)
"""Arguments of a launch's body."""


def launch_contraction(
    kernel: type[MmaKernel], contraction: Contraction, shape: MmaShape, tile: MmaTile, facts: GpuMachine
) -> None:
    """Emit the launch of a kernel at the insertion point; the loops stay."""
    load_kernel_dialects()
    index = ir.IndexType.get()
    sizes = [arith.constant(index, size) for size in (*grid_of(contraction, tile), kernel.threads(tile, facts), 1, 1)]
    body = empty_launch(sizes, kernel.shared_bytes(tile, contraction.lhs.bytes, facts))
    with ir.InsertionPoint(list(body.operations)[-1]):
        kernel(contraction, shape, tile, facts, body).emit()


@dataclass(eq=False)
class MmaKernel:
    """The kernel of a contraction in the launch `body`, by `mma.sync`."""

    contraction: Contraction
    shape: MmaShape
    tile: MmaTile
    facts: GpuMachine
    body: ir.Block

    @classmethod
    def threads(cls, tile: MmaTile, facts: GpuMachine) -> int:
        """Threads of a block."""
        return prod(tile.warps) * facts.warp_threads

    @classmethod
    def shared_bytes(cls, tile: MmaTile, element: int, facts: GpuMachine) -> int:
        """Dynamic shared memory of a block, for elements of so many bytes: that of panels which are more than a block just has."""
        found = tile.shared_bytes(element)
        return found if found > facts.shared_bytes else 0

    @cached_property
    def extents(self) -> Extents:
        """Expressions over the launch's arguments."""
        return Extents()

    def emit(self) -> None:
        """Emit the body."""
        copies = self._copies()
        self._first_tiles(copies)
        sums = self._sums(copies, self._starts())
        self._epilogue(sums)

    def _argument(self, number: int) -> ir.AffineExpr:
        return self.extents.dim(self.body.arguments[number])

    @property
    def _thread(self) -> ir.AffineExpr:
        return self._argument(THREAD_X)

    @property
    def _lane(self) -> ir.AffineExpr:
        return ir.AffineExpr.get_mod(self._thread, self.facts.warp_threads)

    @property
    def _warp(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The warp's first row and column in its block."""
        number = ir.AffineExpr.get_floor_div(self._thread, self.facts.warp_threads)
        down, across = ir.AffineExpr.get_floor_div(number, self.tile.warps[1]), ir.AffineExpr.get_mod(number, self.tile.warps[1])
        return down * self.tile.warp_rows, across * self.tile.warp_columns

    @property
    def _block(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The block's first row and column."""
        return self._argument(BLOCK_Y) * self.tile.rows, self._argument(BLOCK_X) * self.tile.columns

    @property
    def _batch(self) -> dict[ir.Value, ir.AffineExpr]:
        return {loop.iv: place for loop, place in self.contraction.batch.places(self._argument(BLOCK_Z))}

    def _copies(self) -> list[PanelCopy]:
        """Copies of both operands, the left one first."""
        copies = []
        panels = panels_of(self.contraction, self.shape, self.tile)
        threads = self.threads(self.tile, self.facts)
        for panel, target, first in zip(panels, self._targets(panels), self._block, strict=True):
            source = flat(panel.operand.memref)
            copies.append(PanelCopy(panel, source, target, self.extents, self._thread, threads, first, self._batch, self.facts))
        return copies

    def _targets(self, panels: Sequence[Panel]) -> list[ir.Value]:
        """Shared memory for the stages of each panel."""
        kinds = self._panel_types(panels)
        if self.shared_bytes(self.tile, self.contraction.lhs.bytes, self.facts):
            return views_of(self._memory, kinds)
        return [shared_memory(self.body, kind, ir.Location.current) for kind in kinds]

    @cached_property
    def _memory(self) -> ir.Value:
        """All of the block's dynamic shared memory; first asked for at the begin of the body."""
        return dynamic_shared_memory()

    def _panel_types(self, panels: Sequence[Panel]) -> list[ir.MemRefType]:
        return [ir.MemRefType.get([self.tile.stages, *panel.stored_shape], panel.operand.element) for panel in panels]

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
            end_group()
            affine.AffineYieldOp([])

    def _sums(self, copies: Sequence[PanelCopy], starts: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the loop over tiles of the sum; what `starts` comes to."""
        loop = affine.AffineForOp(0, self._steps, iter_args=starts)
        with ir.InsertionPoint(loop.body):
            sums = self._step(self.extents.dim(loop.induction_variable), copies, list(loop.inner_iter_args))
            affine.AffineYieldOp(sums)
        return list(loop.results)

    @property
    def _steps(self) -> int:
        """Tiles of the sum."""
        return -(-self.contraction.sums.extent // self.tile.depth)

    @property
    def _start(self) -> ir.Attribute:
        """What a sum is before the first product."""
        element = self.contraction.total.type
        zero = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
        return self.contraction.start.owner.attributes["value"] if self.contraction.starts_at_constant else zero

    def _starts(self) -> list[ir.Value]:
        """Emit the warp's sums before the first product, by fragments, rows outermost."""
        kind = ir.VectorType(accumulator_type(self.contraction.total.type))
        start = arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, self._start))
        return [start] * (self.tile.warp_rows // self.shape.rows * (self.tile.warp_columns // self.shape.columns))

    def _wait(self) -> None:
        """Emit the wait for the tile that is multiplied next, whichever thread brought it."""
        self._wait_for_copies()
        ir.Operation.create("gpu.barrier")

    def _wait_for_copies(self) -> None:
        """Emit the wait for this thread's own copies of that tile."""
        wait_for_groups(self.tile.stages - 2)

    def _step(self, number: ir.AffineExpr, copies: Sequence[PanelCopy], sums: list[ir.Value]) -> list[ir.Value]:
        """Emit one tile of the sum."""
        stages = self.tile.stages
        self._wait()
        ahead = number + (stages - 1)
        stage = ir.AffineExpr.get_mod(ahead, stages)
        for copy in copies:
            if copy.is_async:
                copy.start(ahead, stage, False)
        end_group()
        held = [(copy, copy.load(ahead, False)) for copy in copies if not copy.is_async]
        sums = self._multiplied(ir.AffineExpr.get_mod(number, stages), copies, sums)
        for copy, values in held:
            copy.store(values, stage)
        return sums

    def _multiplied(self, number: ir.AffineExpr, copies: Sequence[PanelCopy], sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the products of a tile that is in shared memory, in the stage `number`."""
        stage = self.extents.value(number)
        left, right = (
            FragmentLoads(copy.panel, self.shape, copy.target, self.extents, self._lane, warp)
            for copy, warp in zip(copies, self._warp, strict=True)
        )
        sums = list(sums)
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
        (row, column), (down, right) = self._block, self._warp
        row = row + down + ir.AffineExpr.get_floor_div(self._lane, 4)
        column = column + right + ir.AffineExpr.get_mod(self._lane, 4) * 2
        across = self.tile.warp_columns // self.shape.columns
        parts = []
        for below, half, beside in product(range(self.tile.warp_rows // self.shape.rows), range(2), range(across)):
            pair = [self._sum(sums, below * across + beside, half, side) for side in range(2)]
            down = row + (below * self.shape.rows + half * self.shape.rows // 2)
            parts.append((down, column + beside * self.shape.columns, pair))
        epilogue.emit_all(parts)

    def _sum(self, sums: Sequence[ir.Value], fragment: int, half: int, side: int) -> ir.Value:
        """Emit one of the four sums that a thread holds of a fragment."""
        return element_of(sums[fragment], [half, side])
