"""Instances one iteration apart along one loop, in the same iteration of all others.

Where loops' variables are linear in those of a statement, and in quotients of these, a step is the solution of a linear system:
three times as fast as composing relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import islpy as isl

_Row = list[Fraction]


@dataclass(frozen=True, eq=False)
class StatementSchedule:
    """When the instances `domain` of one statement run: the variables of the loops around, from the outside in."""

    domain: isl.Set
    values: Sequence[isl.PwAff]

    def along(self, dim: int) -> SuccessorPairs | None:
        """The moves along the loop number `dim`; None where there are none."""
        solved = self._step(dim)
        if solved is None:
            moves = SuccessorPairs(self, dim)
            return None if moves.pairs.is_empty() else moves
        return SuccessorPairs(self, dim, solved) if solved and self._has_move(solved, dim) else None

    @cached_property
    def relation(self) -> isl.Map:
        """Instances to their times."""
        values = [isl.Map.from_pw_aff(value) for value in self.values]
        return reduce(isl.Map.flat_range_product, values).intersect_domain(self.domain)

    @cached_property
    def _affine(self) -> list[isl.Aff] | None:
        """The times as forms with quotients; None where one is not the same form everywhere."""
        found: list[isl.Aff] = []
        for value in self.values:
            value.foreach_piece(lambda _, piece: found.append(piece))
        return found if len(found) == len(self.values) else None

    def _step(self, dim: int) -> Sequence[int] | None:
        """The change of variables that makes the time `dim` one more and leaves the others; empty for none, None for several."""
        return None if self._rows is None else _solved(self._rows, dim, self.domain.dim(isl.dim_type.set))

    @cached_property
    def _rows(self) -> list[_Row] | None:
        """The factors of variables and quotients in each time."""
        if self._affine is None:
            return None
        quotients = list(dict.fromkeys(text for value in self._affine for text in _quotients(value)))
        return [_row(value, quotients) for value in self._affine]

    def _has_move(self, step: Sequence[int], dim: int) -> bool:
        """Whether an instance `step` away from another comes one iteration later along the loop: quotients may change otherwise."""
        assert self._affine is not None
        shift = _shift(self.domain.get_space(), step)
        found = self.domain.intersect(self.domain.preimage_multi_aff(shift))
        for at, value in enumerate(self._affine):
            late = value.pullback_multi_aff(shift).sub(value).add_constant_val(isl.Val(-int(at == dim)))
            if not late.plain_is_zero():
                found = found.intersect(isl.Set.from_basic_set(late.zero_basic_set()))
        return not found.is_empty()


class SuccessorPairs:
    """The pairs of instances one iteration apart along a loop: `step` apart in each variable, where that is always the same."""

    def __init__(self, time: StatementSchedule, dim: int, step: Sequence[int] | None = None) -> None:
        self._time, self._dim, self._given = time, dim, step

    @cached_property
    def pairs(self) -> isl.Map:
        """Instances to those one iteration further."""
        time = self._time.relation
        space = time.get_space().range()
        steps = isl.Map.universe(space.map_from_set())
        for at in range(space.dim(isl.dim_type.set)):
            steps = _one_further(steps, at) if at == self._dim else steps.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
        return time.apply_range(steps).apply_range(time.reverse())

    @cached_property
    def step(self) -> Sequence[int] | None:
        """By how much each variable changes; None where that is not the same everywhere."""
        return self._given or only_point(self.pairs.deltas())


def _shift(space: isl.Space, step: Sequence[int]) -> isl.MultiAff:
    """Points of `space` to those `step` away."""
    shift = isl.MultiAff.identity(space.map_from_set())
    for at, by in enumerate(step):
        shift = shift.set_aff(at, shift.get_aff(at).add_constant_val(isl.Val(by)))
    return shift


def _quotients(value: isl.Aff) -> list[str]:
    """The divisions that `value` uses, as texts."""
    return [str(value.get_div(at)) for at in range(value.dim(isl.dim_type.div))]


def _row(value: isl.Aff, quotients: Sequence[str]) -> _Row:
    """The factors of the variables and of `quotients` in `value`."""
    row = [_number(value.get_coefficient_val(isl.dim_type.in_, at)) for at in range(value.dim(isl.dim_type.in_))]
    rest = [Fraction(0)] * len(quotients)
    for at, text in enumerate(_quotients(value)):
        rest[quotients.index(text)] += _number(value.get_coefficient_val(isl.dim_type.div, at))
    return row + rest


def _number(value: isl.Val) -> Fraction:
    return Fraction(str(value))


def _solved(matrix: Sequence[_Row], dim: int, count: int) -> Sequence[int] | None:
    """The change of the first `count` variables with which only the product's row `dim` changes, by 1.

    Empty where there is none in whole numbers, None where there are several (Gauss and Jordan).
    """
    work = [[*row, Fraction(int(at == dim))] for at, row in enumerate(matrix)]
    columns = len(matrix[0])
    for column in range(columns):
        pivot = next((at for at in range(column, len(work)) if work[at][column]), None)
        if pivot is None:
            return None
        work[column], work[pivot] = work[pivot], work[column]
        work[column] = [value / work[column][column] for value in work[column]]
        for at, row in enumerate(work):
            if at != column and row[column]:
                work[at] = [value - row[column] * by for value, by in zip(row, work[column], strict=True)]
    is_solved = not any(row[-1] for row in work[columns:]) and all(row[-1].denominator == 1 for row in work[:columns])
    return [int(row[-1]) for row in work[:count]] if is_solved else []


def _one_further(steps: isl.Map, at: int) -> isl.Map:
    space = isl.LocalSpace.from_space(steps.get_space())
    equal = isl.Constraint.equality_alloc(space)
    equal = equal.set_coefficient_val(isl.dim_type.out, at, isl.Val(1)).set_coefficient_val(isl.dim_type.in_, at, isl.Val(-1))
    return steps.add_constraint(equal.set_constant_val(isl.Val(-1)))


def only_point(points: isl.Set) -> Sequence[int] | None:
    """The coordinates of the only one of `points`; None where there are others or none."""
    if not points.is_singleton():
        return None
    point = points.sample_point()
    return [int(str(point.get_coordinate_val(isl.dim_type.set, at))) for at in range(points.dim(isl.dim_type.set))]
