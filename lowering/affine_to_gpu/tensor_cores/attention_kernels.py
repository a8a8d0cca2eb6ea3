"""Kernels that compute attention on tensor cores (Dao, "FlashAttention-2", 2023): scores stay in registers.

copy queries and the first tile of keys
for each tile of keys: wait for it; begin to copy its values; scores = queries x keys, scaled and masked
  wait for values; begin to copy the next keys; exponentials of scores, what was summed before scaled; add exponentials x values
divide by the sums of rows; epilogue on the results
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine_to_gpu.extents import Extents
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, empty_launch, load_kernel_dialects, shared_memory, views_of
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import Attention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import RowState, as_operands
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile
from dlc.lowering.affine_to_gpu.tensor_cores.contraction_kernels import BLOCK_X, BLOCK_Z, THREAD_X
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads, element_of, multiply
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, accumulator_type
from dlc.lowering.affine_to_gpu.tensor_cores.online_softmax import of_row
from dlc.lowering.affine_to_gpu.tensor_cores.score_epilogues import ScoreEpilogue
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy, end_group, flat, wait_for_groups
from dlc.targets.machine import FRAGMENT_HALVES, FRAGMENT_LANES, SUM_NEIGHBOURS, GpuMachine


def launch_attention(attention: Attention, shape: MmaShape, tile: AttentionTile, facts: GpuMachine) -> None:
    """Emit the launch of the kernel at the insertion point; the loops stay."""
    load_kernel_dialects()
    index, scores = ir.IndexType.get(), attention.scores
    panels = AttentionPanels.of(attention, shape, tile)
    blocks, threads = -(-scores.rows.extent // tile.rows), tile.warps * facts.warp_threads
    sizes = [arith.constant(index, size) for size in (blocks, 1, scores.batch.extent, threads, 1, 1)]
    body = empty_launch(sizes, panels.bytes if panels.bytes > facts.shared_bytes else 0)
    with ir.InsertionPoint(list(body.operations)[-1]):
        _AttentionKernel(attention, shape, tile, facts, body, panels, blocks).emit()


_Fragments = Sequence[Sequence[ir.Value]]
"""Fragments of a left operand, by steps of the sum and then rows."""


@dataclass(frozen=True, eq=False)
class _Step:
    """What one tile of keys is computed of: its number, the warp's queries, copies, and the thread's rows."""

    number: ir.AffineExpr
    queries: _Fragments
    keys: PanelCopy
    values: PanelCopy
    places: Sequence[ir.AffineExpr]


@dataclass(eq=False)
class _AttentionKernel:
    """The kernel in the launch `body`: a warp has whole rows of scores, 16 or a multiple, so that no two warps exchange any."""

    attention: Attention
    shape: MmaShape
    tile: AttentionTile
    facts: GpuMachine
    body: ir.Block
    panels: AttentionPanels
    blocks: int

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
        held, places, rows = self._held_queries(queries), self._existing_rows(), self._starts()
        loop = self._loop(rows)
        with ir.InsertionPoint(loop.body):
            step = _Step(self.extents.dim(loop.induction_variable), held, keys, values, places)
            affine.AffineYieldOp(self._step(step, rows.of(loop.inner_iter_args)).all)
        self._finish(rows.of(loop.results))

    # Places.

    def _argument(self, number: int) -> ir.AffineExpr:
        return self.extents.dim(self.body.arguments[number])

    @property
    def _lane(self) -> ir.AffineExpr:
        return ir.AffineExpr.get_mod(self._argument(THREAD_X), self.facts.warp_threads)

    @property
    def _warp_row(self) -> ir.AffineExpr:
        """The warp's first row in its block."""
        return ir.AffineExpr.get_floor_div(self._argument(THREAD_X), self.facts.warp_threads) * self.tile.warp_rows

    @property
    def _block_row(self) -> ir.AffineExpr:
        """The block's first row; where later rows have more keys, blocks that start first have them."""
        number = self._argument(BLOCK_X)
        return (number if self.attention.lead is None else self.blocks - 1 - number) * self.tile.rows

    def _row(self, number: int) -> ir.AffineExpr:
        """A row of the thread, which may not exist."""
        fragment, half = divmod(number, FRAGMENT_HALVES)
        inside = fragment * self.shape.rows + half * (self.shape.rows // FRAGMENT_HALVES)
        return self._block_row + self._warp_row + ir.AffineExpr.get_floor_div(self._lane, FRAGMENT_LANES) + inside

    def _existing_rows(self) -> list[ir.AffineExpr]:
        """Emit the thread's rows, the last one for those that do not exist: what scores are masked by is read there."""
        extent = self.attention.scores.rows.extent
        places = [self._row(row) for row in range(len(self._fragments) * FRAGMENT_HALVES)]
        if extent % self.tile.rows == 0:
            return places
        last = ir.AffineExpr.get_constant(extent - 1)
        return [self.extents.dim(self.extents.least([place, last])) for place in places]

    def _column(self, fragment: int) -> ir.AffineExpr:
        """The first of the columns that the thread has of a fragment."""
        return ir.AffineExpr.get_mod(self._lane, FRAGMENT_LANES) * SUM_NEIGHBOURS + fragment * self.shape.columns

    def _batch(self, contraction: Contraction) -> dict[ir.Value, ir.AffineExpr]:
        return {loop.iv: place for loop, place in contraction.batch.places(self._argument(BLOCK_Z))}

    @property
    def _fragments(self) -> range:
        """Fragments of a warp along its rows."""
        return range(self.tile.warp_rows // self.shape.rows)

    # Copies.

    def _copies(self) -> tuple[PanelCopy, PanelCopy, PanelCopy]:
        kinds = [ir.MemRefType.get([1, *panel.stored_shape], panel.operand.element) for panel in self.panels.all]
        if self.panels.bytes > self.facts.shared_bytes:
            targets = views_of(dynamic_shared_memory(), kinds)
        else:
            targets = [shared_memory(self.body, kind, ir.Location.current) for kind in kinds]
        scores, values, zero = self.attention.scores, self.attention.values, ir.AffineExpr.get_constant(0)
        queries, keys, weighted = (
            self._copy(panel, target, contraction, first)
            for panel, target, contraction, first in zip(
                self.panels.all, targets, (scores, scores, values), (self._block_row, zero, zero), strict=True
            )
        )
        return queries, keys, weighted

    def _copy(self, panel: Panel, target: ir.Value, contraction: Contraction, first: ir.AffineExpr) -> PanelCopy:
        threads = self.tile.warps * self.facts.warp_threads
        source, batch = flat(panel.operand.memref), self._batch(contraction)
        return PanelCopy(panel, source, target, self.extents, self._argument(THREAD_X), threads, first, batch, self.facts)

    def _is_whole(self, panel: Panel) -> bool:
        """Whether no tile of a panel ends behind its sum."""
        return panel.sums.extent % panel.depth == 0

    def _start_keys(self, keys: PanelCopy, number: ir.AffineExpr) -> None:
        """Emit the copy of a tile of keys, if there is such a tile."""
        tiles = -(-self.attention.scores.columns.extent // self.tile.keys)
        zero = ir.AffineExpr.get_constant(0)
        with self.extents.when([(tiles - 1 - number, False)]):
            replace(keys, first=number * self.tile.keys).start(zero, zero, self._is_whole(keys.panel))

    # Products.

    def _loads(self, copy: PanelCopy, first: ir.AffineExpr) -> FragmentLoads:
        return FragmentLoads(copy.panel, self.shape, copy.target, self.extents, self._lane, first)

    def _held_queries(self, queries: PanelCopy) -> list[list[ir.Value]]:
        """Emit loads of the warp's queries, by steps of the sum and rows of fragments."""
        loads, stage = self._loads(queries, self._warp_row), arith.constant(ir.IndexType.get(), 0)
        steps = self.panels.depth // self.shape.depth
        return [[loads.rows(stage, row * self.shape.rows, step) for row in self._fragments] for step in range(steps)]

    def _products(self, lefts: _Fragments, copy: PanelCopy, side: int, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit products with all `side` columns of a panel, added to `sums`, which are by rows of fragments and then columns."""
        loads, stage = self._loads(copy, ir.AffineExpr.get_constant(0)), arith.constant(ir.IndexType.get(), 0)
        across, found = side // self.shape.columns, list(sums)
        for (step, left), column in product(enumerate(lefts), range(0, across, 2)):
            beside = loads.columns(stage, column * self.shape.columns, step)
            for (row, lhs), (place, rhs) in product(enumerate(left), enumerate(beside, column)):
                found[row * across + place] = multiply(self.shape, lhs, rhs, found[row * across + place])
        return found

    # The loop.

    def _starts(self) -> RowState:
        f32, fragments = self.attention.scores.total.type, len(self._fragments)
        lowest, zero = arith.constant(f32, -math.inf), arith.constant(f32, 0.0)
        rows, results = fragments * FRAGMENT_HALVES, fragments * self.panels.width // self.shape.columns
        return RowState([lowest] * rows, [zero] * rows, [self._zeros()] * results)

    def _zeros(self) -> ir.Value:
        kind = ir.VectorType(accumulator_type(self.attention.scores.total.type))
        return arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(kind.element_type, 0.0)))

    def _loop(self, rows: RowState) -> affine.AffineForOp:
        """Emit the loop over tiles of keys, which ends behind the last key that a query of the block sees."""
        tiles = -(-self.attention.scores.columns.extent // self.tile.keys)
        if self.attention.lead is None:
            return affine.AffineForOp(0, tiles, iter_args=rows.all)
        last = self._block_row + (self.tile.rows - 1 + self.attention.lead)
        seen = ir.AffineExpr.get_floor_div(last, self.tile.keys) + 1
        upper, operands = self.extents.scope.map([seen, ir.AffineExpr.get_constant(tiles)])
        return affine.AffineForOp(0, upper, iter_args=rows.all, upper_bound_operands=operands)

    def _step(self, step: _Step, rows: RowState) -> RowState:
        """Emit one tile of keys."""
        _wait()
        step.values.start(step.number, ir.AffineExpr.get_constant(0), self._is_whole(step.values.panel))
        end_group()
        sums = [self._zeros()] * (len(self._fragments) * self.tile.keys // self.shape.columns)
        sums = self._products(step.queries, step.keys, self.tile.keys, sums)
        _wait()
        self._start_keys(step.keys, step.number + 1)
        end_group()
        weights, rows = rows.weighted(self._scores(step, sums))
        lefts = as_operands(self.shape, self.attention.values.rhs.element, weights)
        return replace(rows, results=self._products(lefts, step.values, self.panels.width, rows.results))

    def _scores(self, step: _Step, sums: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """Emit the scores of each row of the thread, scaled and masked."""
        scores, across = self.attention.scores, self.tile.keys // self.shape.columns
        sides = self.tile.rows, self.tile.keys
        epilogue = ScoreEpilogue(scores, self.extents, self._batch(scores), sides, score=self.attention.score)
        found: list[list[ir.Value]] = [[] for _ in step.places]
        for (row, place), at in product(enumerate(step.places), range(across)):
            pair = self._pair(sums, row, at, across)
            found[row] += epilogue.values(place, step.number * self.tile.keys + self._column(at), pair)
        return found

    def _pair(self, sums: Sequence[ir.Value], row: int, at: int, across: int) -> list[ir.Value]:
        """Emit the neighbours that the thread has of one of its rows in a fragment of sums."""
        fragment, half = divmod(row, FRAGMENT_HALVES)
        return [element_of(sums[fragment * across + at], [half, side]) for side in range(SUM_NEIGHBOURS)]

    # The end.

    def _finish(self, rows: RowState) -> None:
        """Emit the sums of whole rows, and what is done with them and the results."""
        values = self.attention.values
        across = self.panels.width // self.shape.columns
        for row, total in enumerate(rows.totals):
            held = dict.fromkeys(self.attention.totals, of_row(arith.addf, total))
            sides = self.tile.rows, self.panels.width
            epilogue = Epilogue(values, self.extents, self._batch(values), sides, held)
            for at in range(across):
                epilogue.emit(self._row(row), self._column(at), self._pair(rows.results, row, at, across))


def _wait() -> None:
    """Emit the wait for all copies, whichever thread began them; all threads are done with what they read before."""
    wait_for_groups(0)
    ir.Operation.create("gpu.barrier")
