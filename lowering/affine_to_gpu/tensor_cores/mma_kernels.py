"""Kernels that compute contractions on tensor cores by `mma.sync`: fragments of panels in shared memory, sums in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, shared_memory, views_of
from dlc.lowering.affine_to_gpu.tensor_cores.contraction_kernels import ContractionKernel, launch_kernel
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads, element_of, multiply
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, accumulator_type
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile, panels_of
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import flat
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy, end_group
from dlc.targets.machine import GpuMachine


def launch_contraction(
    kernel: type[MmaKernel], contraction: Contraction, shape: MmaShape, tile: MmaTile, facts: GpuMachine
) -> None:
    """Emit the launch of a kernel at the insertion point; the loops stay."""
    threads, shared_bytes = kernel.threads(tile, facts), kernel.shared_bytes(tile, contraction.lhs.bytes, facts)
    launch_kernel(lambda body: kernel(contraction, tile, facts, body, shape), contraction, tile, threads, shared_bytes)


@dataclass(eq=False)
class MmaKernel(ContractionKernel):
    """The kernel of a contraction by `mma.sync`."""

    tile: MmaTile
    shape: MmaShape

    @classmethod
    def threads(cls, tile: MmaTile, facts: GpuMachine) -> int:
        """Threads of a block."""
        return prod(tile.warps) * facts.warp_threads

    @classmethod
    def shared_bytes(cls, tile: MmaTile, element: int, facts: GpuMachine) -> int:
        """Dynamic shared memory of a block, for elements of so many bytes: that of panels which are more than a block just has."""
        found = tile.shared_bytes(element)
        return found if found > facts.shared_bytes else 0

    @property
    def _warp(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The warp's first row and column in its block."""
        number = ir.AffineExpr.get_floor_div(self._thread, self.facts.warp_threads)
        down, across = ir.AffineExpr.get_floor_div(number, self.tile.warps[1]), ir.AffineExpr.get_mod(number, self.tile.warps[1])
        return down * self.tile.warp_rows, across * self.tile.warp_columns

    def _copies(self) -> list[PanelCopy]:
        """Copies of both operands, the left one first."""
        copies = []
        panels = panels_of(self.contraction, self.shape, self.tile)
        threads = self.threads(self.tile, self.facts)
        for panel, target, first in zip(panels, self._targets(panels), self._block, strict=True):
            source, strides = flat(panel.operand.memref), panel.operand.open_strides()
            copies.append(
                PanelCopy(panel, source, target, self.extents, self._thread, threads, first, self._batch, self.facts, strides)
            )
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

    def _starts(self) -> list[ir.Value]:
        """Emit the warp's sums before the first product, by fragments, rows outermost."""
        kind = ir.VectorType(accumulator_type(self.contraction.total.type))
        start = arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, self._start))
        return [start] * (self.tile.warp_rows // self.shape.rows * (self.tile.warp_columns // self.shape.columns))

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
