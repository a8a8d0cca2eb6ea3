"""Kernels in the making: the body of a launch, and expressions over its arguments."""

from __future__ import annotations

from functools import cached_property

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.extents import LoopExtents

BLOCK_X, BLOCK_Y, BLOCK_Z, THREAD_X = range(4)
"""Arguments of a launch's body."""


class KernelBody:
    """What emitters of kernels have in common: the `body` of a launch."""

    body: ir.Block

    @cached_property
    def extents(self) -> LoopExtents:
        """Expressions over the launch's arguments."""
        return LoopExtents()

    def _argument(self, number: int) -> ir.AffineExpr:
        return self.extents.dim(self.body.arguments[number])

    @property
    def _thread(self) -> ir.AffineExpr:
        return self._argument(THREAD_X)
