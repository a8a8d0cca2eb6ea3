"""Attention by multiply-adds of f32: a thread has some rows of scores and of results, and weights go through shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from dlc._mlir import affine, arith, ir, memref
from dlc._mlir import math as math_ops
from dlc.lowering.affine_to_gpu.tensor_cores.attention_copied_kernels import CopiedAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_fma_tiles import row_lanes
from dlc.lowering.affine_to_gpu.tensor_cores.attention_kernels import Columns
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import Weighted
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import element_of
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy, swizzled
from dlc.targets.machine import MATRIX_ROW_BYTES

_Emit = Callable[[ir.AffineExpr, list[ir.Value]], list[ir.Value]]


@dataclass(frozen=True)
class _Place:
    """Neighbours of a panel's row."""

    row: ir.AffineExpr
    column: ir.AffineExpr


@dataclass(eq=False)
class FmaAttention(CopiedAttention):
    """Half a warp has every second of the warp's rows, and of a row each of its lanes every 16th key: rows that are read at a time
    lie side by side, in different banks."""

    @property
    def _row_lanes(self) -> int:
        return row_lanes(self.facts)

    @property
    def _row_lane(self) -> ir.AffineExpr:
        """The lane's number among those of its rows."""
        return ir.AffineExpr.get_mod(self._thread, self._row_lanes)

    @property
    def _rows(self) -> list[ir.AffineExpr]:
        halves = self.facts.warp_threads // self._row_lanes
        first = self._warp_row + ir.AffineExpr.get_floor_div(self._lane, self._row_lanes)
        return [first + at for at in range(0, self.tile.warp_rows, halves)]

    @property
    def _score_columns(self) -> Columns:
        return [(self._row_lane + at, 1) for at in range(0, self.tile.keys, self._row_lanes)]

    @property
    def _result_columns(self) -> Columns:
        beside = min(self._chunk, self.panels.width // self._row_lanes)
        return [(self._row_lane * beside + at, beside) for at in range(0, self.panels.width, beside * self._row_lanes)]

    @property
    def _chunk(self) -> int:
        """Elements that a thread reads at a time."""
        return MATRIX_ROW_BYTES // self.panels.keys.operand.bytes

    def _hold(self, queries: PanelCopy) -> None:
        """Queries stay in shared memory."""

    def _zero_results(self) -> list[ir.Value]:
        return self._zeros(len(self._rows) * self.panels.width // self._row_lanes)

    def _zeros(self, count: int) -> list[ir.Value]:
        return [arith.constant(self.attention.scores.total.type, 0.0)] * count

    def _products_with_keys(self, keys: PanelCopy) -> list[list[ir.Value]]:
        queries, places = self.panels.queries, [column for column, _ in self._score_columns]

        def add(chunk: ir.AffineExpr, sums: list[ir.Value]) -> list[ir.Value]:
            column = chunk * self._chunk
            below = [self._read(queries, self._targets[0], _Place(row, column), self._chunk) for row in self._rows]
            beside = [self._read(keys.panel, keys.target, _Place(key, column), self._chunk) for key in places]
            for at in range(self._chunk):
                sums = _outer_product([one[at] for one in below], [one[at] for one in beside], sums)
            return sums

        found = self._chunks(self.panels.depth // self._chunk, self._zeros(len(self._rows) * len(places)), add)
        return self._row_results(found)

    def _add_values(self, weighted: Weighted, values: PanelCopy) -> list[ir.Value]:
        weights, target = self.panels.weights, self._targets[-1]
        assert weights is not None
        self._store_weights(weights, target, weighted.weights)

        def add(chunk: ir.AffineExpr, sums: list[ir.Value]) -> list[ir.Value]:
            column = chunk * self._chunk
            below = [self._read(weights, target, _Place(row, column), self._chunk) for row in self._rows]
            for at in range(self._chunk):
                beside = [
                    value
                    for first, count in self._result_columns
                    for value in self._read(values.panel, values.target, _Place(column + at, first), count)
                ]
                sums = _outer_product([one[at] for one in below], beside, sums)
            return sums

        across = self.panels.width // self._row_lanes
        before = [arith.mulf(one, weighted.factors[place // across]) for place, one in enumerate(weighted.rows.results)]
        return self._chunks(self.tile.keys // self._chunk, before, add)

    def _row_results(self, results: Sequence[ir.Value]) -> list[list[ir.Value]]:
        across = len(results) // len(self._rows)
        return [list(results[at : at + across]) for at in range(0, len(results), across)]

    def _store_weights(self, panel: Panel, target: ir.Value, weights: Sequence[Sequence[ir.Value]]) -> None:
        """Emit stores of the thread's weights, which its warp alone reads."""
        zero = arith.constant(ir.IndexType.get(), 0)
        for (row, own), place in product(zip(self._rows, weights, strict=True), range(len(self._score_columns))):
            piece, column = self._stored(panel, _Place(row, self._score_columns[place][0]))
            memref.store(own[place], target, [zero, piece, column])
        word = ir.IntegerType.get_signless(32)
        ir.Operation.create("nvvm.bar.warp.sync", [], [arith.constant(word, -1)])

    def _chunks(self, count: int, sums: Sequence[ir.Value], emit: _Emit) -> list[ir.Value]:
        """Emit a loop over chunks of a sum."""
        loop = affine.AffineForOp(0, count, iter_args=sums)
        with ir.InsertionPoint(loop.body):
            affine.AffineYieldOp(emit(self.extents.dim(loop.induction_variable), list(loop.inner_iter_args)))
        return list(loop.results)

    def _stored(self, panel: Panel, place: _Place) -> tuple[ir.Value, ir.Value]:
        """Emit where an element of a panel lies: its piece of a row, and the place there."""
        piece, inside = panel.stored(place.row, place.column)
        return self.extents.value(piece), swizzled(panel, self.extents, piece, inside)

    def _read(self, panel: Panel, target: ir.Value, place: _Place, count: int) -> list[ir.Value]:
        """Emit the load of `count` neighbours from a multiple of it on."""
        kind = ir.VectorType.get([count], panel.operand.element)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count * panel.operand.bytes)
        at = [arith.constant(ir.IndexType.get(), 0), *self._stored(panel, place)]
        found = ir.Operation.create("vector.load", [kind], [target, *at], {"alignment": alignment}).results[0]
        return [element_of(found, [number]) for number in range(count)]


def _outer_product(lhs: Sequence[ir.Value], rhs: Sequence[ir.Value], sums: Sequence[ir.Value]) -> list[ir.Value]:
    """Emit sums, rows outermost, with the products of all pairs added."""
    return [math_ops.fma(one, other, total) for (one, other), total in zip(product(lhs, rhs), sums, strict=True)]
