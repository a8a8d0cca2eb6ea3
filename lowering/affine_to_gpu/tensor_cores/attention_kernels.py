"""Kernels that compute attention (Dao, "FlashAttention-2", 2023): scores stay in registers.

for each tile of keys: scores = queries x keys, scaled and masked; their exponentials; add exponentials x values to results
divide by the sums of rows; epilogue on the results
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.kernel_body import BLOCK_X, BLOCK_Z, KernelBody
from dlc.lowering.affine_to_gpu.launches import empty_launch, load_kernel_dialects
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import RowState, Weighted
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile, AttentionTiles, PanelTiles
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.online_softmax import of_row
from dlc.lowering.affine_to_gpu.tensor_cores.score_epilogues import ScoreEpilogue
from dlc.targets.machine import GpuMachine

Columns = Sequence[tuple[ir.AffineExpr, int]]
"""The columns of a row that a thread has: the first of some neighbours, and their number."""


def launch_attention(kernel: type[AttentionKernel], tiles: AttentionTiles, tile: AttentionTile) -> None:
    """Emit the launch of the kernel at the insertion point; the loops stay."""
    load_kernel_dialects()
    batch = tiles.attention.scores.batch.extent
    sizes = [arith.constant(ir.IndexType.get(), size) for size in (tiles.blocks(tile), 1, batch, tiles.threads(tile), 1, 1)]
    body = empty_launch(sizes, tiles.dynamic_bytes(tile))
    with ir.InsertionPoint(list(body.operations)[-1]):
        kernel(tiles, tile, body).emit()


@dataclass(eq=False)
class AttentionKernel(KernelBody, ABC):
    """The kernel in the launch `body`: a warp has whole rows of scores, so that no two warps exchange any."""

    tiles: AttentionTiles
    tile: AttentionTile
    body: ir.Block

    @property
    def attention(self) -> AttentionNest:
        """What is computed."""
        return self.tiles.attention

    @property
    def facts(self) -> GpuMachine:
        """The GPU."""
        return self.tiles.facts

    @abstractmethod
    def emit(self) -> None:
        """Emit the body."""

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

    @abstractmethod
    def _zero_results(self) -> list[ir.Value]:
        """Emit the results before the first step."""

    # Places.

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


@dataclass(eq=False)
class PanelAttention(AttentionKernel):
    """A kernel that multiplies panels in shared memory."""

    tiles: PanelTiles

    @cached_property
    def panels(self) -> AttentionPanels:
        """What a block keeps there."""
        return self.tiles.panels(self.tile)

    @property
    @abstractmethod
    def _result_columns(self) -> Columns:
        """The thread's columns of the results."""

    @abstractmethod
    def _row_results(self, results: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """Emit the results of each row of the thread, in the order of its columns."""

    def _finish(self, rows: RowState) -> None:
        """Emit the sums of whole rows, and what is done with them and the results."""
        values, results = self.attention.values, self._row_results(rows.results)
        for row, total, own in zip(self._rows, rows.totals, results, strict=True):
            held = dict.fromkeys(self.attention.totals, of_row(arith.addf, total, self._row_lanes))
            sides = self.tile.rows, self.panels.width
            epilogue = Epilogue(values, self.extents, self._batch(values), sides, held)
            for column, part in self._parts(self._result_columns, own):
                epilogue.emit(self._block_row + row, column, part)
