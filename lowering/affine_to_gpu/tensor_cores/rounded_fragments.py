"""Fragments of f32 in shared memory, rounded on their way to registers: `ldmatrix` moves bytes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir, memref
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads, element_of
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import fragment_type
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import swizzled
from dlc.targets.machine import FRAGMENT_HALVES, FRAGMENT_LANES, MATRIX_ROWS, SUM_NEIGHBOURS


@dataclass(frozen=True, eq=False)
class RoundedLoads(FragmentLoads):
    """Loads of one warp from a panel of f32, as fragments of elements of type `element`."""

    element: ir.Type

    def rows(self, stage: ir.Value, at: int, step: int) -> ir.Value:
        """Registers hold two neighbours along the sum: of both halves of the rows, and then of the next eight of the sum."""
        places = [(half * MATRIX_ROWS, next) for next in range(2) for half in range(FRAGMENT_HALVES)]
        return self._fragment([self._pair(stage, at + row, step, next) for row, next in places])

    def columns(self, stage: ir.Value, at: int, step: int) -> tuple[ir.Value, ir.Value]:
        """Registers hold two neighbours along the sum, and then those of the next eight."""
        first, second = (
            self._fragment([self._pair(stage, at + beside, step, next) for next in range(2)]) for beside in (0, MATRIX_ROWS)
        )
        return first, second

    def _fragment(self, pairs: Sequence[Sequence[ir.Value]]) -> ir.Value:
        narrow = [arith.truncf(self.element, value) for pair in pairs for value in pair]
        kind = fragment_type(self.shape, self.element, len(pairs))
        return ir.Operation.create("vector.from_elements", [kind], narrow).results[0]

    def _pair(self, stage: ir.Value, at: int, step: int, next: int) -> list[ir.Value]:
        """Emit loads of the two neighbours along the sum that the thread has of a position along the axis."""
        axis = self.first + ir.AffineExpr.get_floor_div(self.lane, FRAGMENT_LANES) + at
        along = ir.AffineExpr.get_mod(self.lane, FRAGMENT_LANES) * SUM_NEIGHBOURS + (step * self.shape.depth + next * MATRIX_ROWS)
        if not self.panel.along_sums:
            return [self._one(stage, along + side, axis) for side in range(SUM_NEIGHBOURS)]
        kind = ir.VectorType.get([SUM_NEIGHBOURS], self.panel.operand.element)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), SUM_NEIGHBOURS * self.panel.operand.bytes)
        operands = [self.target, *self._stored(stage, axis, along)]
        both = ir.Operation.create("vector.load", [kind], operands, {"alignment": alignment}).results[0]
        return [element_of(both, [side]) for side in range(SUM_NEIGHBOURS)]

    def _one(self, stage: ir.Value, row: ir.AffineExpr, column: ir.AffineExpr) -> ir.Value:
        found: ir.Value = memref.load(self.target, self._stored(stage, row, column))
        return found

    def _stored(self, stage: ir.Value, row: ir.AffineExpr, column: ir.AffineExpr) -> list[ir.Value]:
        """Emit where an element of the panel lies."""
        piece, inside = self.panel.stored(row, column)
        return [stage, self.extents.value(piece), swizzled(self.panel, self.extents, piece, inside)]
