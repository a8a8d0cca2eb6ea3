"""What attention does with its scores before softmax (scale, masks), done by the threads that hold them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue


@dataclass(frozen=True, eq=False)
class ScoreEpilogue(Epilogue):
    """The epilogue of a contraction that stores nothing: it computes `score`. Scores of keys that do not exist are -inf."""

    score: ir.Value | None = None

    def values(self, row: ir.AffineExpr, column: ir.AffineExpr, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the scores of neighbours from `column` on, in a row that exists."""
        found = [self._existing(row, columns, totals) for columns, totals in self._together(column, sums)]
        return [value for part in found for value in part]

    def _existing(self, row: ir.AffineExpr, columns: Sequence[ir.AffineExpr], sums: Sequence[ir.Value]) -> list[ir.Value]:
        axis = self.contraction.columns
        if axis.extent % self.sides[1] == 0:
            return self._scores(row, columns, sums)
        condition, operands = self.extents.scope.set([(axis.extent - 1 - columns[-1], False)])
        kinds = [total.type for total in sums]
        attributes = {"condition": ir.IntegerSetAttr.get(condition)}
        branch = ir.Operation.create("affine.if", kinds, operands, attributes, regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            affine.AffineYieldOp(self._scores(row, columns, sums))
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            affine.AffineYieldOp([arith.constant(kind, -math.inf) for kind in kinds])
        return list(branch.results)

    def _scores(self, row: ir.AffineExpr, columns: Sequence[ir.AffineExpr], sums: Sequence[ir.Value]) -> list[ir.Value]:
        score = self.score
        assert score is not None
        return [known.get(score, score) for known in self._body(row, columns, sums)]
