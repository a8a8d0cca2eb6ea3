"""Lowering of det; that of matrix products is in `contractions`."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import require_same
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.dl_to_linalg.building.loop_nests import loop_nest
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("det")
def lower_det(b: Builder, op: SourceOp) -> ir.Value:
    """The product of pivots of each matrix, in a loop over matrices."""
    x, kind = op.operands[0], op.types[0]
    require_same(b, op, (0, kind.rank - 2), (0, kind.rank - 1))
    wide = b.wide(kind.dtype)
    shape = b.shape(x)
    lead, size = shape[:-2], shape[-2]

    def matrix(at: Sequence[ir.Value], carried: Sequence[ir.Value]) -> list[ir.Value]:
        results, rest = carried
        rest = _copied(b, x, kind.dtype, at, rest, size)
        found = b.loop(size, [rest, b.scalar(1, wide)], lambda step, *state: _eliminated(b, wide, size, step, *state))
        return [insert_at(b, b.narrow(found[1], kind.dtype), results, at), found[0]]

    starts = [b.empty(lead, kind.dtype), b.empty([size, size], wide)]
    return loop_nest(b, lead, starts, matrix)[0]


def _copied(b: Builder, x: ir.Value, dtype: str, at: Sequence[ir.Value], target: ir.Value, size: Extent) -> ir.Value:
    """`target` with the matrix at `at`, widened."""

    def put(place: Sequence[ir.Value], carried: Sequence[ir.Value]) -> list[ir.Value]:
        element = b.widen(element_at(b, x, [*at, *place]), dtype)
        return [insert_at(b, element, carried[0], place)]

    return loop_nest(b, [size, size], [target], put)[0]


def _eliminated(b: Builder, wide: str, size: Extent, step: ir.Value, rest: ir.Value, product: ir.Value) -> list[ir.Value]:
    """One step: the row with the largest element of column `step` moves up, and rows below it lose theirs there."""
    row = _pivot_row(b, wide, size, step, rest)
    rest = _swapped(b, rest, size, step, row)
    pivot = element_at(b, rest, [step, step])
    signed = b.select(b.compare_index("eq", row, step), pivot, b.unary("arith.negf", pivot))
    is_zero = b.compare("eq", pivot, b.scalar(0, wide), wide)
    after = b.binary("arith.addi", step, b.index(1))
    below = b.extent("sub", size, after)

    def reduce_row(at: ir.Value, carried: ir.Value) -> list[ir.Value]:
        lower = b.binary("arith.addi", at, after)
        quotient = b.arith("div", element_at(b, carried, [lower, step]), pivot, wide)
        factor = b.select(is_zero, b.scalar(0, wide), quotient)

        def reduce_element(place: ir.Value, matrix: ir.Value) -> list[ir.Value]:
            column = b.binary("arith.addi", place, after)
            part = b.arith("mul", factor, element_at(b, matrix, [step, column]), wide)
            left = b.arith("sub", element_at(b, matrix, [lower, column]), part, wide)
            return [insert_at(b, left, matrix, [lower, column])]

        return b.loop(below, [carried], reduce_element)

    return [b.loop(below, [rest], reduce_row)[0], b.arith("mul", product, signed, wide)]


def _pivot_row(b: Builder, wide: str, size: Extent, step: ir.Value, rest: ir.Value) -> ir.Value:
    """The row from `step` on whose element of column `step` is largest."""

    def better(at: ir.Value, best: ir.Value, row: ir.Value) -> list[ir.Value]:
        place = b.binary("arith.addi", at, step)
        value = b.unary("math.absf", element_at(b, rest, [place, step]))
        takes = b.compare("gt", value, best, wide)
        return [b.select(takes, value, best), b.select(takes, place, row)]

    return b.loop(b.extent("sub", size, step), [b.scalar(-1, wide), step], better)[1]


def _swapped(b: Builder, rest: ir.Value, size: Extent, left: ir.Value, right: ir.Value) -> ir.Value:
    """A matrix with two rows exchanged."""

    def swap(column: ir.Value, matrix: ir.Value) -> list[ir.Value]:
        upper, lower = element_at(b, matrix, [left, column]), element_at(b, matrix, [right, column])
        return [insert_at(b, upper, insert_at(b, lower, matrix, [left, column]), [right, column])]

    return b.loop(size, [rest], swap)[0]
