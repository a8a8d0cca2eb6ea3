"""What a thread knows of its rows of attention, and what another tile of scores makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, accumulator_type, fragment_type
from dlc.lowering.affine_to_gpu.tensor_cores.online_softmax import Exponentials, next_top, next_total
from dlc.targets.machine import FRAGMENT_HALVES, MATRICES, SUM_NEIGHBOURS


@dataclass(frozen=True)
class RowState:
    """The largest score of each of a thread's rows, its own part of the sums of exponentials, and the sums of products with values,
    in the form in which the kernel holds them."""

    tops: list[ir.Value]
    totals: list[ir.Value]
    results: list[ir.Value]

    @property
    def all(self) -> list[ir.Value]:
        """All values, as a loop carries them."""
        return [*self.tops, *self.totals, *self.results]

    def of(self, values: Sequence[ir.Value]) -> RowState:
        """The state whose values a loop carries in place of those of this one."""
        count = len(self.tops)
        return RowState(list(values[:count]), list(values[count : 2 * count]), list(values[2 * count :]))


@dataclass(frozen=True)
class Weighted:
    """A tile of scores as exponentials, by rows, the state with their largest ones and sums, and for each row the factor by which
    its results are still to be multiplied."""

    weights: list[list[ir.Value]]
    rows: RowState
    factors: list[ir.Value]

    @classmethod
    def of(cls, rows: RowState, scores: Sequence[Sequence[ir.Value]], factor: float | None, lanes: int) -> Weighted:
        """Emit them; so many lanes have a row, and scores are still to be multiplied by `factor`."""
        weights, tops, totals, factors = [], [], [], []
        for top, total, own in zip(rows.tops, rows.totals, scores, strict=True):
            found, finite = next_top(top, own, lanes)
            before, *powers = Exponentials(factor, finite).of([top, *own])
            factors.append(before)
            weights.append(powers)
            tops.append(found)
            totals.append(next_total(total, before, powers))
        return cls(weights, RowState(tops, totals, rows.results), factors)


def scaled_fragments(results: Sequence[ir.Value], factors: Sequence[ir.Value]) -> list[ir.Value]:
    """Emit fragments of results, rows first, times the factors of their rows."""
    fragments = [factors[row : row + FRAGMENT_HALVES] for row in range(0, len(factors), FRAGMENT_HALVES)]
    scales, across = [_by_halves(halves) for halves in fragments], len(results) // len(fragments)
    return [arith.mulf(result, scales[place // across]) for place, result in enumerate(results)]


def as_operands(shape: MmaShape, element: ir.Type, weights: Sequence[Sequence[ir.Value]]) -> list[list[ir.Value]]:
    """Emit rows of exponentials as fragments of a left operand, by steps of the sum and then rows.

    Two fragments of sums beside each other hold what one of an operand does, in the same threads (PTX ISA, "Matrix fragments").
    """
    rows = [weights[row : row + FRAGMENT_HALVES] for row in range(0, len(weights), FRAGMENT_HALVES)]
    own = shape.depth * SUM_NEIGHBOURS // shape.columns
    return [[_operand(shape, element, halves, at) for halves in rows] for at in range(0, len(weights[0]), own)]


def _operand(shape: MmaShape, element: ir.Type, halves: Sequence[Sequence[ir.Value]], at: int) -> ir.Value:
    """Emit a fragment of what a thread has of two rows from `at` on: neighbours of both rows, then those of the next columns."""
    starts = range(at, at + shape.depth * SUM_NEIGHBOURS // shape.columns, SUM_NEIGHBOURS)
    wide = [value for start in starts for half in halves for value in half[start : start + SUM_NEIGHBOURS]]
    kind = fragment_type(shape, element, MATRICES)
    return ir.Operation.create("vector.from_elements", [kind], [arith.truncf(element, one) for one in wide]).results[0]


def _by_halves(factors: Sequence[ir.Value]) -> ir.Value:
    """Emit a fragment whose halves have a factor each."""
    elements = [factor for factor in factors for _ in range(SUM_NEIGHBOURS)]
    return ir.Operation.create("vector.from_elements", [accumulator_type(factors[0].type)], elements).results[0]
