"""Rows and columns that a thread has where scores and results are sums of tensor cores."""

from __future__ import annotations

from abc import abstractmethod

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.tensor_cores.attention_kernels import Columns, PanelAttention
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.targets.machine import FRAGMENT_HALVES, FRAGMENT_LANES, SUM_NEIGHBOURS


class FragmentRows(PanelAttention):
    """A warp has 16 rows or a multiple; four lanes have a row of a fragment, two neighbours of every eight columns."""

    @property
    @abstractmethod
    def shape(self) -> MmaShape:
        """The products of an instruction."""

    @property
    def _row_lanes(self) -> int:
        return FRAGMENT_LANES

    @property
    def _rows(self) -> list[ir.AffineExpr]:
        lane_row = self._warp_row + ir.AffineExpr.get_floor_div(self._lane, FRAGMENT_LANES)
        return [lane_row + inside for inside in range(0, self.tile.warp_rows, self.shape.rows // FRAGMENT_HALVES)]

    def _columns(self, side: int) -> Columns:
        first = ir.AffineExpr.get_mod(self._lane, FRAGMENT_LANES) * SUM_NEIGHBOURS
        return [(first + at, SUM_NEIGHBOURS) for at in range(0, side, self.shape.columns)]

    @property
    def _score_columns(self) -> Columns:
        return self._columns(self.tile.keys)

    @property
    def _result_columns(self) -> Columns:
        return self._columns(self.panels.width)
