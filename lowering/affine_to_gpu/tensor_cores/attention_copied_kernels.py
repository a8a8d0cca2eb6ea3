"""Kernels of attention whose panels come by `cp.async`, one tile of keys and one of values at a time.

copy queries and the first tile of keys
for each tile of keys: wait for it; begin to copy its values; scores = queries x keys, scaled and masked
  wait for values; begin to copy the next keys; exponentials of scores, what was summed before scaled; add exponentials x values
divide by the sums of rows; epilogue on the results
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, shared_memory, views_of
from dlc.lowering.affine_to_gpu.tensor_cores.attention_kernels import PanelAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import RowState, Weighted
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import flat
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy, end_group, wait_for_groups


@dataclass(frozen=True, eq=False)
class KeyTileStep:
    """What one tile of keys is computed of: its number, copies, the thread's rows, and whether some queries of the block do not see
    all of its keys."""

    number: ir.AffineExpr
    keys: PanelCopy
    values: PanelCopy
    places: Sequence[ir.AffineExpr]
    is_masked: bool


@dataclass(eq=False)
class CopiedAttention(PanelAttention):
    """The loop over tiles of keys, all of whose threads copy and compute."""

    def emit(self) -> None:
        """Emit the body."""
        queries, keys, values = self._copies()
        zero = ir.AffineExpr.get_constant(0)
        for copy in (queries, keys):
            copy.start(zero, zero, self._is_whole(copy.panel))
        end_group()
        _wait()
        self._hold(queries)
        places, rows = self._existing_rows(), self._starts()
        for (lower, upper), is_masked in self._ranges():
            rows = self._loop(lower, upper, KeyTileStep(zero, keys, values, places, is_masked), rows)
        self._finish(rows)

    @abstractmethod
    def _hold(self, queries: PanelCopy) -> None:
        """Emit what makes queries in shared memory ready for all steps."""

    @abstractmethod
    def _products_with_keys(self, keys: PanelCopy) -> list[list[ir.Value]]:
        """Emit the scores of each row of the thread before scale and masks, in the order of its columns."""

    @abstractmethod
    def _add_values(self, weighted: Weighted, values: PanelCopy) -> list[ir.Value]:
        """Emit the results of before, times their factors, with the products of weights and values added."""

    def _copies(self) -> tuple[PanelCopy, PanelCopy, PanelCopy]:
        scores, values, zero = self.attention.scores, self.attention.values, ir.AffineExpr.get_constant(0)
        queries, keys, weighted = (
            self._copy(panel, target, contraction, first)
            for panel, target, contraction, first in zip(
                self.panels.copied, self._targets, (scores, scores, values), (self._block_row, zero, zero), strict=False
            )
        )
        return queries, keys, weighted

    @cached_property
    def _targets(self) -> list[ir.Value]:
        """Shared memory for each panel; first asked for at the begin of the body."""
        kinds = [ir.MemRefType.get([1, *panel.stored_shape], panel.operand.element) for panel in self.panels.all]
        if self.tiles.dynamic_bytes(self.tile):
            return views_of(dynamic_shared_memory(), kinds)
        return [shared_memory(self.body, kind, ir.Location.current) for kind in kinds]

    def _copy(self, panel: Panel, target: ir.Value, contraction: Contraction, first: ir.AffineExpr) -> PanelCopy:
        threads = self.tiles.threads(self.tile)
        source, batch = flat(panel.operand.memref), self._batch(contraction)
        return PanelCopy(panel, source, target, self.extents, self._thread, threads, first, batch, self.facts)

    def _is_whole(self, panel: Panel) -> bool:
        """Whether no tile of a panel ends behind its sum."""
        return panel.sums.extent % panel.depth == 0

    def _start_keys(self, keys: PanelCopy, number: ir.AffineExpr) -> None:
        """Emit the copy of a tile of keys, if there is such a tile."""
        zero = ir.AffineExpr.get_constant(0)
        with self.extents.when([(self._tiles - 1 - number, False)]):
            replace(keys, first=number * self.tile.keys).start(zero, zero, self._is_whole(keys.panel))

    def _loop(self, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], step: KeyTileStep, rows: RowState) -> RowState:
        """Emit a loop over tiles of keys."""
        (low, below), (high, above) = self.extents.scope.map(lower), self.extents.scope.map(upper)
        loop = affine.AffineForOp(low, high, iter_args=rows.all, lower_bound_operands=below, upper_bound_operands=above)
        with ir.InsertionPoint(loop.body):
            number = self.extents.dim(loop.induction_variable)
            affine.AffineYieldOp(self._step(replace(step, number=number), rows.of(loop.inner_iter_args)).all)
        return rows.of(loop.results)

    def _step(self, step: KeyTileStep, rows: RowState) -> RowState:
        """Emit one tile of keys."""
        _wait()
        step.values.start(step.number, ir.AffineExpr.get_constant(0), self._is_whole(step.values.panel))
        end_group()
        sums = self._products_with_keys(step.keys)
        _wait()
        self._start_keys(step.keys, step.number + 1)
        end_group()
        weighted = self._weighted(step.number, step.places, step.is_masked, sums, rows)
        return replace(weighted.rows, results=self._add_values(weighted, step.values))


def _wait() -> None:
    """Emit the wait for all copies, whichever thread began them; all threads are done with what they read before."""
    wait_for_groups(0)
    ir.Operation.create("gpu.barrier")
