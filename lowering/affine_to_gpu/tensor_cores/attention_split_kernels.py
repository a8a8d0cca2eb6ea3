"""Attention of few queries: some lanes of a warp have a key together, and keys are split over the warps of a block.

for each tile of keys: load keys and values; scores by shuffles of the lanes of a key; exponentials; add these x values
barrier; results of all groups of lanes in the scale of the largest score, divided by their sum; epilogue on the results
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from dlc._mlir import affine, arith, ir, memref
from dlc._mlir import math as math_ops
from dlc.lowering.affine_to_gpu.launches import shared_memory
from dlc.lowering.affine_to_gpu.tensor_cores.attention_kernels import AttentionKernel, Columns
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import RowState
from dlc.lowering.affine_to_gpu.tensor_cores.attention_split_tiles import HeadLanes, SplitAttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import element_of
from dlc.lowering.affine_to_gpu.tensor_cores.online_softmax import Exponentials, larger, next_top, of_row
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import flat


@dataclass(eq=False)
class SplitAttention(AttentionKernel):
    """The kernel whose threads have all queries of the block, and of a row of keys and values some neighbours."""

    tiles: SplitAttentionTiles

    def emit(self) -> None:
        """Emit the body."""
        places, memory = self._existing_rows(), self._memory()
        queries = [self._query(row) for row in places]
        rows, tiles = self._starts(), -(-self.attention.scores.columns.extent // self.tile.keys)
        loop = affine.AffineForOp(0, tiles, iter_args=rows.all)
        with ir.InsertionPoint(loop.body):
            number = self.extents.dim(loop.induction_variable)
            affine.AffineYieldOp(self._step(number, places, queries, rows.of(loop.inner_iter_args)).all)
        self._store(memory, rows.of(loop.results))
        ir.Operation.create("gpu.barrier")
        self._combine(memory)

    def _memory(self) -> ir.Value:
        kind = ir.MemRefType.get(self.tiles.shared_shape(self.tile), self._f32)
        return shared_memory(self.body, kind, ir.Location.current)

    @property
    def _f32(self) -> ir.Type:
        return self.attention.scores.total.type

    # Places.

    @property
    def _row_lanes(self) -> int:
        return 1

    @property
    def _head_lane(self) -> ir.AffineExpr:
        """The lane's number among those of its key."""
        return ir.AffineExpr.get_mod(self._thread, self.tiles.heads[0].lanes)

    @property
    def _group(self) -> ir.AffineExpr:
        """The number of the lanes' key among those that the block has side by side."""
        return ir.AffineExpr.get_floor_div(self._thread, self.tiles.heads[0].lanes)

    @property
    def _rows(self) -> list[ir.AffineExpr]:
        return [ir.AffineExpr.get_constant(row) for row in range(self.tile.rows)]

    @property
    def _score_columns(self) -> Columns:
        beside = self.tiles.warps(self.tile) * self.tiles.groups
        return [(self._group + at, 1) for at in range(0, self.tile.keys, beside)]

    def _zero_results(self) -> list[ir.Value]:
        return [arith.constant(self._f32, 0.0)] * (self.tile.rows * self.tiles.heads[1].elements)

    # Loads.

    def _query(self, row: ir.AffineExpr) -> list[ir.Value]:
        """Emit what the thread has of a query, 0 behind its end."""
        scores, head = self.attention.scores, self.tiles.heads[0]
        places = self._batch(scores) | {loop.iv: place for loop, place in scores.rows.places(row)}
        return self._head(scores.lhs, scores.sums, head, places, with_zeros=True)

    def _head(
        self, operand: Operand, axis: Axis, head: HeadLanes, places: dict[ir.Value, ir.AffineExpr], *, with_zeros: bool = False
    ) -> list[ir.Value]:
        """Emit the thread's elements of a row, in f32; what lies behind its end is any, or 0."""
        found: list[ir.Value] = []
        for piece in range(head.pieces):
            column, is_inside = self._head_lane * head.chunk + piece * head.step, None
            if (piece + 1) * head.step > axis.extent:
                last = ir.AffineExpr.get_constant(axis.extent - head.chunk)
                exists = arith.cmpi(arith.CmpIPredicate.sle, self.extents.value(column), self.extents.value(last))
                is_inside, column = exists, self.extents.dim(self.extents.least([column, last]))
            loaded = self._load(operand, places | {loop.iv: place for loop, place in axis.places(column)}, head.chunk)
            zero = arith.constant(self._f32, 0.0)
            found += [arith.select(is_inside, value, zero) if with_zeros and is_inside else value for value in loaded]
        return found

    def _load(self, operand: Operand, places: dict[ir.Value, ir.AffineExpr], count: int) -> list[ir.Value]:
        """Emit loads of `count` neighbours, at once where they are aligned."""
        element = ir.AffineExpr.get_constant(operand.form.constant)
        for variable, factor in operand.form.factors.items():
            element = element + places[variable] * factor
        source, numbers = flat(operand.memref), [operand.form.constant, *operand.form.factors.values()]
        if all(number in (0, 1) or number % count == 0 for number in numbers):
            kind = ir.VectorType.get([count], operand.element)
            size = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count * operand.bytes)
            at = [source, self.extents.value(element)]
            loaded = ir.Operation.create("vector.load", [kind], at, {"alignment": size}).results[0]
            values = [element_of(loaded, [number]) for number in range(count)]
        else:
            values = [memref.load(source, [self.extents.value(element + number)]) for number in range(count)]
        return [value if operand.element == self._f32 else arith.extf(self._f32, value) for value in values]

    def _of_key(self, operand: Operand, key: ir.AffineExpr, *, is_value: bool) -> list[ir.Value]:
        """Emit what the thread has of a row of keys or of values, the last one for a key that does not exist."""
        attention, head = self.attention, self.tiles.heads[int(is_value)]
        contraction = attention.values if is_value else attention.scores
        axis, along = (contraction.sums, contraction.columns) if is_value else (contraction.columns, contraction.sums)
        if axis.extent % self.tile.keys:
            key = self.extents.dim(self.extents.least([key, ir.AffineExpr.get_constant(axis.extent - 1)]))
        places = self._batch(contraction) | {loop.iv: place for loop, place in axis.places(key)}
        return self._head(operand, along, head, places)

    # The loop.

    def _step(
        self, number: ir.AffineExpr, places: Sequence[ir.AffineExpr], queries: Sequence[Sequence[ir.Value]], rows: RowState
    ) -> RowState:
        """Emit one tile of keys."""
        attention = self.attention
        numbers = [number * self.tile.keys + column for column, _ in self._score_columns]
        keys = [self._of_key(attention.scores.rhs, key, is_value=False) for key in numbers]
        values = [self._of_key(attention.values.rhs, key, is_value=True) for key in numbers]
        sums = [[self._product(query, key) for key in keys] for query in queries]
        weighted = self._weighted(number, places, attention.lead is not None, sums, rows)
        count, found = self.tiles.heads[1].elements, list[ir.Value]()
        for row, (factor, weights) in enumerate(zip(weighted.factors, weighted.weights, strict=True)):
            results = [arith.mulf(one, factor) for one in rows.results[row * count : (row + 1) * count]]
            for weight, value in zip(weights, values, strict=True):
                results = [math_ops.fma(weight, one, total) for one, total in zip(value, results, strict=True)]
            found += results
        return RowState(weighted.rows.tops, weighted.rows.totals, found)

    def _product(self, query: Sequence[ir.Value], key: Sequence[ir.Value]) -> ir.Value:
        """Emit the sum of products of a query and a key, which all lanes of the key get."""
        start = arith.mulf(query[0], key[0])
        own = reduce(lambda total, pair: math_ops.fma(*pair, total), zip(query[1:], key[1:], strict=True), start)
        return of_row(arith.addf, own, self.tiles.heads[0].lanes)

    # The end.

    def _store(self, memory: ir.Value, rows: RowState) -> None:
        """Emit stores of the results of a group of lanes, and of their scale by its first lane."""
        head, size = self.tiles.heads[1], self.attention.values.columns.extent
        group = self.extents.value(self._group)
        for row, (top, total) in enumerate(zip(rows.tops, rows.totals, strict=True)):
            place = arith.constant(ir.IndexType.get(), row)
            own = rows.results[row * head.elements : (row + 1) * head.elements]
            for at, value in enumerate(own):
                column = self._head_lane * head.chunk + (at // head.chunk * head.step + at % head.chunk)
                checks = [(size - 1 - column, False)] if (at // head.chunk + 1) * head.step > size else []
                with self.extents.when(checks) if checks else ir.InsertionPoint.current:
                    memref.store(value, memory, [group, place, self.extents.value(column)])
            with self.extents.when([(self._head_lane, True)]):
                for number, value in enumerate((top, total)):
                    memref.store(value, memory, [group, place, arith.constant(ir.IndexType.get(), size + number)])

    def _combine(self, memory: ir.Value) -> None:
        """Emit the results of all groups, one of them in a thread at a time."""
        size = self.attention.values.columns.extent
        count, threads = size * self.tile.rows, self.tiles.threads(self.tile)
        for first in range(0, count, threads):
            number = self._thread + first
            checks = [(count - 1 - number, False)] if first + threads > count else []
            with self.extents.when(checks) if checks else ir.InsertionPoint.current:
                self._result(memory, ir.AffineExpr.get_floor_div(number, size), ir.AffineExpr.get_mod(number, size))

    def _result(self, memory: ir.Value, row: ir.AffineExpr, column: ir.AffineExpr) -> None:
        """Emit one result and what is done with it."""
        values, groups = self.attention.values, range(self.tiles.shared_shape(self.tile)[0])
        index, size = ir.IndexType.get(), values.columns.extent
        at = [self.extents.value(row), *(arith.constant(index, size + number) for number in range(2)), self.extents.value(column)]
        tops, totals, results = (
            [memref.load(memory, [arith.constant(index, group), at[0], place]) for group in groups] for place in at[1:]
        )
        _, finite = next_top(reduce(larger, tops), tops, 1)
        factors = Exponentials(self.attention.factor, finite).of(tops)
        total, result = (
            reduce(arith.addf, [arith.mulf(one, factor) for one, factor in zip(parts, factors, strict=True)])
            for parts in (totals, results)
        )
        held = dict.fromkeys(self.attention.totals, total)
        epilogue = Epilogue(values, self.extents, self._batch(values), (self.tile.rows, size), held)
        epilogue.emit(self._block_row + row, column, [result])
