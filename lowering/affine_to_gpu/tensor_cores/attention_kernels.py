"""Kernels that compute attention (Dao, "FlashAttention-2", 2023): scores stay in registers.

copy queries and the first tile of keys
for each tile of keys: wait for it; begin to copy its values; scores = queries x keys, scaled and masked
  wait for values; begin to copy the next keys; exponentials of scores, what was summed before scaled; add exponentials x values
divide by the sums of rows; epilogue on the results
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine_to_gpu.extents import Extents
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, empty_launch, load_kernel_dialects, shared_memory, views_of
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import Attention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import RowState, Weighted
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile, AttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.mma_kernels import BLOCK_X, BLOCK_Z, THREAD_X
from dlc.lowering.affine_to_gpu.tensor_cores.online_softmax import of_row
from dlc.lowering.affine_to_gpu.tensor_cores.score_epilogues import ScoreEpilogue
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy, end_group, flat, wait_for_groups
from dlc.targets.machine import GpuMachine

Columns = Sequence[tuple[ir.AffineExpr, int]]
"""The columns of a row that a thread has: the first of some neighbours, and their number."""


def launch_attention(kernel: type[AttentionKernel], tiles: AttentionTiles, tile: AttentionTile) -> None:
    """Emit the launch of the kernel at the insertion point; the loops stay."""
    load_kernel_dialects()
    panels, batch = tiles.panels(tile), tiles.attention.scores.batch.extent
    sizes = [arith.constant(ir.IndexType.get(), size) for size in (tiles.blocks(tile), 1, batch, tiles.threads(tile), 1, 1)]
    body = empty_launch(sizes, tiles.dynamic_bytes(panels))
    with ir.InsertionPoint(list(body.operations)[-1]):
        kernel(tiles, tile, body, panels).emit()


@dataclass(frozen=True, eq=False)
class Step:
    """What one tile of keys is computed of: its number, copies, the thread's rows, and whether some queries of the block do not see
    all of its keys."""

    number: ir.AffineExpr
    keys: PanelCopy
    values: PanelCopy
    places: Sequence[ir.AffineExpr]
    is_masked: bool


@dataclass(eq=False)
class AttentionKernel(ABC):
    """The kernel in the launch `body`: a warp has whole rows of scores, so that no two warps exchange any."""

    tiles: AttentionTiles
    tile: AttentionTile
    body: ir.Block
    panels: AttentionPanels

    @property
    def attention(self) -> Attention:
        """What is computed."""
        return self.tiles.attention

    @property
    def facts(self) -> GpuMachine:
        """The GPU."""
        return self.tiles.facts

    @cached_property
    def extents(self) -> Extents:
        """Expressions over the launch's arguments."""
        return Extents()

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
            rows = self._loop(lower, upper, Step(zero, keys, values, places, is_masked), rows)
        self._finish(rows)

    # What kernels differ in.

    @property
    @abstractmethod
    def _row_lanes(self) -> int:
        """Lanes that have a row together."""

    @property
    @abstractmethod
    def _rows(self) -> list[ir.AffineExpr]:
        """The thread's rows in its block."""

    @property
    @abstractmethod
    def _score_columns(self) -> Columns:
        """The thread's columns of a tile of scores."""

    @property
    @abstractmethod
    def _result_columns(self) -> Columns:
        """The thread's columns of the results."""

    @abstractmethod
    def _hold(self, queries: PanelCopy) -> None:
        """Emit what makes queries in shared memory ready for all steps."""

    @abstractmethod
    def _zero_results(self) -> list[ir.Value]:
        """Emit the results before the first step."""

    @abstractmethod
    def _products_with_keys(self, keys: PanelCopy) -> list[list[ir.Value]]:
        """Emit the scores of each row of the thread before scale and masks, in the order of its columns."""

    @abstractmethod
    def _add_values(self, weighted: Weighted, values: PanelCopy) -> list[ir.Value]:
        """Emit the results of before, times their factors, with the products of weights and values added."""

    @abstractmethod
    def _row_results(self, results: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """Emit the results of each row of the thread, in the order of its columns."""

    # Places.

    def _argument(self, number: int) -> ir.AffineExpr:
        return self.extents.dim(self.body.arguments[number])

    @property
    def _thread(self) -> ir.AffineExpr:
        return self._argument(THREAD_X)

    @property
    def _lane(self) -> ir.AffineExpr:
        return ir.AffineExpr.get_mod(self._thread, self.facts.warp_threads)

    @property
    def _warp_row(self) -> ir.AffineExpr:
        """The warp's first row in its block."""
        return ir.AffineExpr.get_floor_div(self._thread, self.facts.warp_threads) * self.tile.warp_rows

    @property
    def _block_row(self) -> ir.AffineExpr:
        """The block's first row; where later rows have more keys, blocks that start first have them."""
        number = self._argument(BLOCK_X)
        return (number if self.attention.lead is None else self.tiles.blocks(self.tile) - 1 - number) * self.tile.rows

    def _existing_rows(self) -> list[ir.AffineExpr]:
        """Emit the thread's rows, the last one for those that do not exist: what scores are masked by is read there."""
        extent = self.attention.scores.rows.extent
        places = [self._block_row + row for row in self._rows]
        if extent % self.tile.rows == 0:
            return places
        last = ir.AffineExpr.get_constant(extent - 1)
        return [self.extents.dim(self.extents.least([place, last])) for place in places]

    def _batch(self, contraction: Contraction) -> dict[ir.Value, ir.AffineExpr]:
        return {loop.iv: place for loop, place in contraction.batch.places(self._argument(BLOCK_Z))}

    # Copies.

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
        if self.tiles.dynamic_bytes(self.panels):
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

    # The loop.

    @property
    def _tiles(self) -> int:
        """Tiles of keys."""
        return -(-self.attention.scores.columns.extent // self.tile.keys)

    def _starts(self) -> RowState:
        f32, rows = self.attention.scores.total.type, len(self._rows)
        lowest, zero = arith.constant(f32, -math.inf), arith.constant(f32, 0.0)
        return RowState([lowest] * rows, [zero] * rows, self._zero_results())

    def _ranges(self) -> list[tuple[tuple[list[ir.AffineExpr], list[ir.AffineExpr]], bool]]:
        """Ranges of tiles as lower bounds and upper ones, and whether a query of the block does not see some of their keys.

        They end behind the last key that a query of the block sees.
        """
        zero, tiles = ir.AffineExpr.get_constant(0), ir.AffineExpr.get_constant(self._tiles)
        if self.attention.lead is None:
            return [(([zero], [tiles]), False)]
        first = self._block_row + self.attention.lead
        whole = ir.AffineExpr.get_floor_div(first + 1, self.tile.keys)
        seen = ir.AffineExpr.get_floor_div(first + (self.tile.rows - 1), self.tile.keys) + 1
        return [(([zero], [whole, tiles]), False), (([zero, whole], [seen, tiles]), True)]

    def _loop(self, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], step: Step, rows: RowState) -> RowState:
        """Emit a loop over tiles of keys."""
        (low, below), (high, above) = self.extents.scope.map(lower), self.extents.scope.map(upper)
        loop = affine.AffineForOp(low, high, iter_args=rows.all, lower_bound_operands=below, upper_bound_operands=above)
        with ir.InsertionPoint(loop.body):
            number = self.extents.dim(loop.induction_variable)
            affine.AffineYieldOp(self._step(replace(step, number=number), rows.of(loop.inner_iter_args)).all)
        return rows.of(loop.results)

    def _step(self, step: Step, rows: RowState) -> RowState:
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

    def _weighted(
        self,
        number: ir.AffineExpr,
        places: Sequence[ir.AffineExpr],
        is_masked: bool,
        sums: Sequence[Sequence[ir.Value]],
        rows: RowState,
    ) -> Weighted:
        """Emit the exponentials of a tile's scores, which are scaled and masked before."""
        epilogue = self._score_epilogue(is_masked)
        found: list[list[ir.Value]] = []
        for place, own in zip(places, sums, strict=True):
            found.append([])
            for column, part in self._parts(self._score_columns, own):
                found[-1] += epilogue.values(place, number * self.tile.keys + column, part)
        return Weighted.of(rows, found, self.attention.factor, self._row_lanes)

    def _score_epilogue(self, is_masked: bool) -> ScoreEpilogue:
        attention = self.attention
        scores, score = (attention.scores, attention.score) if is_masked or attention.lead is None else attention.of_seen_keys
        return ScoreEpilogue(scores, self.extents, self._batch(scores), (self.tile.rows, self.tile.keys), score=score)

    def _parts(self, columns: Columns, own: Sequence[ir.Value]) -> list[tuple[ir.AffineExpr, Sequence[ir.Value]]]:
        """The values of a row with the columns of the first of each neighbours."""
        ends = [sum(count for _, count in columns[:place]) for place in range(len(columns) + 1)]
        return [(column, own[start:end]) for (column, _), (start, end) in zip(columns, pairwise(ends), strict=True)]

    # The end.

    def _finish(self, rows: RowState) -> None:
        """Emit the sums of whole rows, and what is done with them and the results."""
        values, results = self.attention.values, self._row_results(rows.results)
        for row, total, own in zip(self._rows, rows.totals, results, strict=True):
            held = dict.fromkeys(self.attention.totals, of_row(arith.addf, total, self._row_lanes))
            sides = self.tile.rows, self.panels.width
            epilogue = Epilogue(values, self.extents, self._batch(values), sides, held)
            for column, part in self._parts(self._result_columns, own):
                epilogue.emit(self._block_row + row, column, part)


def _wait() -> None:
    """Emit the wait for all copies, whichever thread began them; all threads are done with what they read before."""
    wait_for_groups(0)
    ir.Operation.create("gpu.barrier")
