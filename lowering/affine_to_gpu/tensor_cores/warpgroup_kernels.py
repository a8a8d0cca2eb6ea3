"""Kernels of `wgmma`: a warpgroup multiplies panels in shared memory by their descriptors, sums stay in registers.

copy tiles 0 .. stages - 2 of the sum
for each tile: wait for it, and show it to the tensor cores; barrier; begin to copy the tile stages - 1 ahead; multiply; wait
epilogue on the sums
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.tensor_cores.mma_kernels import MmaKernel
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import PanelCopy
from dlc.lowering.affine_to_gpu.tensor_cores.tensor_maps import TensorCopy
from dlc.lowering.affine_to_gpu.tensor_cores.warpgroup_products import (
    WarpgroupOperand,
    end_products,
    fence_registers,
    multiply_warpgroup,
    sums_of,
)
from dlc.targets.machine import GpuMachine


@dataclass(eq=False)
class WarpgroupKernel(MmaKernel):
    """The kernel of a contraction by `wgmma`. Panels lie in dynamic shared memory, the left one's stages first.

    The four warps of a warpgroup have 16 rows each and all columns of the block; a thread's sums are one struct, four of each
    fragment of 8 columns.
    """

    @classmethod
    def shared_bytes(cls, tile: MmaTile, element: int, facts: GpuMachine) -> int:
        """Dynamic shared memory: that of all panels, which start at multiples of a swizzle's period there."""
        return tile.shared_bytes(element)

    def _starts(self) -> list[ir.Value]:
        element, count = self.contraction.total.type, self.tile.warp_rows * self.tile.warp_columns // self.facts.warp_threads
        return [sums_of([arith.constant(element, self._start)] * count)]

    def _wait(self) -> None:
        """Copies write as threads do, and tensor cores read as the asynchronous proxy does: a fence of the writer lies between."""
        self._wait_for_copies()
        kinds = {"kind": "#nvvm.proxy_kind<async.shared>", "space": "#nvvm.shared_space<cta>"}
        attributes = {name: ir.Attribute.parse(kind) for name, kind in kinds.items()}
        ir.Operation.create("nvvm.fence.proxy", attributes=attributes)
        ir.Operation.create("gpu.barrier")

    def _multiplied(
        self, number: ir.AffineExpr, copies: Sequence[PanelCopy | TensorCopy], sums: Sequence[ir.Value]
    ) -> list[ir.Value]:
        left, right = (
            WarpgroupOperand(copy.panel, self.shape, copy.target, self.extents, first)
            for copy, first in zip(copies, (self._warpgroup_row, ir.AffineExpr.get_constant(0)), strict=True)
        )
        (total,) = sums
        fence_registers()
        for step in range(self.tile.depth // self.shape.depth):
            total = multiply_warpgroup(self.tile.columns, left, right, ((number, step), (number, step)), total)
        end_products()
        none = {"group": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
        ir.Operation.create("nvvm.wgmma.wait.group.sync.aligned", attributes=none)
        return [total]

    @property
    def _warpgroup_row(self) -> ir.AffineExpr:
        """The warpgroup's first row in its block."""
        rows = self.shape.rows * self.shape.warps
        return ir.AffineExpr.get_floor_div(self._warp[0], rows) * rows

    def _sum(self, sums: Sequence[ir.Value], fragment: int, half: int, side: int) -> ir.Value:
        position = {"position": ir.DenseI64ArrayAttr.get([4 * fragment + 2 * half + side])}
        return ir.Operation.create("llvm.extractvalue", [self.contraction.total.type], [sums[0]], position).results[0]
