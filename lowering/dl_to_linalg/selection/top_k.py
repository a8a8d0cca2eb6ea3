"""Lowering of top_k: one pass along the axis for each element that it takes, or ranks of all elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import size_at, size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.dl_to_linalg.building.loop_nests import Step, loop_nest
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.top_k_keys import MOST_PLACES, KeyBlocks, has_keys, indices_by_rank, pays_to_rank, row_keys
from dlc.lowering.dl_to_linalg.building.top_k_rows import RowKeys


@lowering("top_k")
def lower_top_k(b: Builder, op: SourceOp) -> list[ir.Value]:
    """k passes along the axis; each takes the best element that comes after the one the pass before took.

    Where value and index fit into one integer, a pass takes the greatest integer that is left, by maxima of blocks; for
    many passes or short rows all integers are ranked instead. A number of passes that run time knows counts as the square
    root of the row.
    """
    x, axis = op.operands[0], op["axis"] % op.types[0].rank
    k: Extent = op["k"] if op.operands[1] is None else b.declared(axis, size_at(b, op, 1, []), op.results[0].shape[axis])
    shape = b.shape(x)
    size = shape[axis]
    b.require_at_most(("k", k), size_of(b, op, (0, axis)))
    shape[axis] = k
    starts = [b.empty(shape, kind.dtype) for kind in op.results]
    if isinstance(k, int) and k == 0:
        return starts
    outer = [*shape[:axis], *shape[axis + 1 :]]

    def row(at: Sequence[ir.Value]) -> _Row:
        return _Row(b, op, axis, size, k, at)

    if not has_keys(op, axis):
        return loop_nest(b, outer, starts, lambda at, carried: row(at).by_comparisons(carried))
    if isinstance(size, int):
        return loop_nest(b, outer, starts, lambda at, carried: row(at).by_keys(carried))
    room = RowKeys.empty(b, size)
    b.require_at_most(size_of(b, op, (0, axis)), ("the most that has places", MOST_PLACES))
    return loop_nest(b, outer, [*starts, room.keys, room.maxima], lambda at, carried: row(at).by_keys_in(carried))[:2]


@dataclass(frozen=True)
class _Row:
    """The elements along `axis` at one position `at` of the other axes, from which `k` of `size` are taken."""

    b: Builder
    op: SourceOp
    axis: int
    size: Extent
    k: Extent
    at: Sequence[ir.Value]

    def by_comparisons(self, results: Sequence[ir.Value]) -> list[ir.Value]:
        """Values and indices with this row's, where each pass compares elements with the last one taken."""
        none = [self._element(self.b.index(0)), self.b.index(-1)]
        return loop_nest(self.b, [self.k], [*results, *none], self._take)[:2]

    def by_keys(self, results: Sequence[ir.Value]) -> list[ir.Value]:
        """The same by integers of value and index, of a row whose size is known."""
        keys = row_keys(self.b, self.op, self.op.operands[0], self.axis, self.at)
        count: int = keys.type.shape[0]
        if pays_to_rank(count, self.k if isinstance(self.k, int) else math.isqrt(count)):
            return loop_nest(self.b, [self.k], results, self._take_ranked(indices_by_rank(self.b, keys)))
        blocks = KeyBlocks.of(self.b, keys)
        return loop_nest(self.b, [self.k], [*results, blocks.keys, blocks.maxima], self._take_by(KeyBlocks))[:2]

    def by_keys_in(self, carried: Sequence[ir.Value]) -> list[ir.Value]:
        """The same of a row whose size run time knows, in memory that all rows share: the last two values."""
        filled = RowKeys(*carried[2:]).filled(self.b, self.op, self.op.operands[0], self.axis, self._place)
        return loop_nest(self.b, [self.k], [*carried[:2], filled.keys, filled.maxima], self._take_by(RowKeys))

    def _place(self, along: ir.Value) -> list[ir.Value]:
        return [*self.at[: self.axis], along, *self.at[self.axis :]]

    def _element(self, along: ir.Value) -> ir.Value:
        return element_at(self.b, self.op.operands[0], self._place(along))

    def _take(self, pick: Sequence[ir.Value], state: Sequence[ir.Value]) -> Sequence[ir.Value]:
        """One pass: results, and the element that was taken last with its index."""
        values, indices, last, last_at = state
        best, best_at = self._best_after(last, last_at)
        return [*self._put(pick[0], best, best_at, values, indices), best, best_at]

    def _take_ranked(self, order: ir.Value) -> Step:
        def take(pick: Sequence[ir.Value], state: Sequence[ir.Value]) -> Sequence[ir.Value]:
            found = self.b.index_cast(element_at(self.b, order, pick), ir.IndexType.get())
            return self._put(pick[0], self._element(found), found, *state)

        return take

    def _take_by(self, kind: type[KeyBlocks] | type[RowKeys]) -> Step:
        def take(pick: Sequence[ir.Value], state: Sequence[ir.Value]) -> Sequence[ir.Value]:
            values, indices, *rest = state
            found, left = kind(*rest).take(self.b)
            return [*self._put(pick[0], self._element(found), found, values, indices), left.keys, left.maxima]

        return take

    def _put(self, pick: ir.Value, element: ir.Value, found: ir.Value, values: ir.Value, indices: ir.Value) -> list[ir.Value]:
        """Both results with the element that was found at an index, in the place of the pass."""
        where = self._place(pick)
        values = insert_at(self.b, element, values, where)
        return [values, insert_at(self.b, self.b.index_cast(found, self.b.element("i64")), indices, where)]

    def _best_after(self, last: ir.Value, last_at: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The first element in the op's order that comes after (last, last_at), or any where last_at is -1, and its index."""
        b, op, dtype, zero = self.b, self.op, self.op.result.dtype, self.b.index(0)
        first = b.compare_index("lt", last_at, zero)

        def step(at: Sequence[ir.Value], best: Sequence[ir.Value]) -> Sequence[ir.Value]:
            element = self._element(at[0])
            open_ = _or(b, first, _is_after(b, op, (element, at[0]), (last, last_at), dtype))
            better = _or(b, b.compare_index("lt", best[1], zero), _is_before(b, op, element, best[0], dtype))
            taken = b.binary("arith.andi", open_, better)
            return [b.select(taken, element, best[0]), b.select(taken, at[0], best[1])]

        best, best_at = loop_nest(b, [self.size], [last, b.index(-1)], step)
        return best, b.binary("arith.maxsi", best_at, zero)


def _is_before(b: Builder, op: SourceOp, left: ir.Value, right: ir.Value, dtype: str) -> ir.Value:
    """True where `left` comes before `right`: greater (largest) or smaller; NaN is greater than every number."""
    left, right, wide = b.widen(left, dtype), b.widen(right, dtype), b.wide(dtype)
    if not op["largest"]:
        left, right = right, left
    greater = b.compare("gt", left, right, wide)
    if wide not in ("f32", "f64"):
        return greater
    only_left = b.binary("arith.andi", b.compare("uno", left, left, wide), b.compare("ord", right, right, wide))
    return _or(b, greater, only_left)


def _is_after(b: Builder, op: SourceOp, item: tuple[ir.Value, ir.Value], last: tuple[ir.Value, ir.Value], dtype: str) -> ir.Value:
    """True where an element with its index comes after another; of equal ones the one with the greater index."""
    ahead = _is_before(b, op, item[0], last[0], dtype)
    behind = _is_before(b, op, last[0], item[0], dtype)
    later = b.compare_index("gt", item[1], last[1])
    return b.select(behind, behind, b.select(ahead, behind, later))


def _or(b: Builder, left: ir.Value, right: ir.Value) -> ir.Value:
    return b.binary("arith.ori", left, right)
