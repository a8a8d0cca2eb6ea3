"""Counting and listing what a condition holds for: a pass that counts, then one that writes without a branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import REDUCTION, Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at

Holds = Callable[[ir.Value], ir.Value]
"""From an element to an i1."""


@dataclass(frozen=True)
class Matches:
    """The elements of a list or matrix that a condition holds for: how many, and the row-major place behind the last."""

    source: ir.Value
    holds: Holds
    count: ir.Value
    end: ir.Value

    @staticmethod
    def of(b: Builder, source: ir.Value, holds: Holds) -> Matches:
        """One pass over all elements."""
        rank = source.type.rank
        shape = b.shape(source)
        maps = [ir.AffineMap.get_identity(rank), *[ir.AffineMap.get(rank, 0, [])] * 2]
        starts = [b.full([], b.scalar(0, "i64")) for _ in range(2)]

        def body(element: ir.Value, count: ir.Value, end: ir.Value) -> Sequence[ir.Value]:
            zero, one, found = b.scalar(0, "i64"), b.scalar(1, "i64"), holds(element)
            place: Extent = 0
            for axis, size in enumerate(shape):
                place = b.extent("add", b.extent("mul", place, size), b.iteration(axis))
            after = b.binary("arith.addi", b.index_cast(b.index(place), b.element("i64")), one)
            more = b.binary("arith.addi", count, b.select(found, one, zero))
            return [more, b.binary("arith.maxsi", end, b.select(found, after, zero))]

        found = b.generics([source], starts, maps, [REDUCTION] * rank, body)
        count, end = (b.index_cast(element_at(b, value, []), ir.IndexType.get()) for value in found)
        return Matches(source, holds, count, end)

    def write(
        self,
        b: Builder,
        outs: Sequence[ir.Value],
        start: Callable[[ir.Value], Sequence[ir.Value]],
        write: Callable[..., Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """Tensors with what is written for each match: `write(outs, p, context, column)` puts what belongs at place p of them.

        `write` is called for elements that do not match, too: the next match writes the same place again. The loop ends at the last
        match, so p is always less than `count`. `start(row)` gives the context of a row of a matrix.
        """
        rank = self.source.type.rank
        columns = b.dim(self.source, rank - 1)
        rows = 1 if rank == 1 else b.extent("ceildiv", self.end, b.extent("max", columns, 1))

        def visit_row(row: ir.Value, *carried: ir.Value) -> Sequence[ir.Value]:
            context = start(row)
            left = b.extent("sub", self.end, b.extent("mul", row, columns))

            def visit(column: ir.Value, *state: ir.Value) -> Sequence[ir.Value]:
                at = [column] if rank == 1 else [row, column]
                step = b.select(self.holds(element_at(b, self.source, at)), b.index(1), b.index(0))
                return [*write(state[:-1], state[-1], context, column), b.binary("arith.addi", state[-1], step)]

            return b.loop(b.extent("min", columns, left), carried, visit)

        return b.loop(rows, [*outs, b.index(0)], visit_row)[: len(outs)]

    def places(self, b: Builder) -> ir.Value:
        """The places of the matches in a list: i64, ascending."""
        i64 = b.element("i64")

        def write(outs: Sequence[ir.Value], at: ir.Value, _: object, column: ir.Value) -> Sequence[ir.Value]:
            return [insert_at(b, b.index_cast(column, i64), outs[0], [at])]

        return self.write(b, [b.empty([self.count], "i64")], lambda row: [], write)[0]
