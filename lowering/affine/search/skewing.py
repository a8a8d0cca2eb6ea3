"""Loops skewed until no dependence goes backwards along any of them, so that all can be tiled together.

Skewing (Wolf and Lam, TPDS 1991) with a shift for each statement. A loop's shifts are longest paths over the dependences
(Bellman and Ford), so that no linear program is solved: it takes 0.02 s for `heat-3d` of PolyBench, isl's scheduler 0.5 s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice, product

import islpy as isl

from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.search.scheduler import ScheduleUnit
from dlc.lowering.policy import policy

_Row = tuple[int, ...]
_Edge = tuple[str, str, "_Distances"]
_Column = tuple[_Row, dict[str, int]]


@dataclass(frozen=True, eq=False)
class Skewed:
    """Loops around all statements of a part along which no dependence goes backwards.

    Loop number m is, for each statement, `rows[statement][m]` times the statement's own loops plus `shifts[statement][m]`;
    `values` is the same as functions. `sum_advances` says that the sum of the loops grows along each dependence.
    """

    values: tuple[isl.UnionPwAff, ...]
    rows: Mapping[str, tuple[_Row, ...]]
    shifts: Mapping[str, tuple[int, ...]]
    sum_advances: bool


@dataclass(frozen=True, eq=False)
class _Distances:
    """How far apart the ends of a dependence are in each loop: points, and sets of them."""

    points: frozenset[_Row]
    sets: tuple[isl.Set, ...]

    def least(self, row: Sequence[int]) -> int | None:
        """The least product of a distance with `row`; None where there is none."""
        found = [sum(by * far for by, far in zip(row, point, strict=True)) for point in self.points]
        for one in self.sets:
            value = one.min_val(_form(one.get_space(), row))
            if not value.is_int():
                return None
            found.append(int(str(value)))
        return min(found, default=0)


def skewed_loops(part: ScheduleUnit) -> Skewed | None:
    """Skewed loops, as many as the deepest statement has; None where small factors and shifts do not do, or the text's loops do."""
    depth = max(len(one.loops) for one in part.statements)
    if depth < 2 or any(not one.loops for one in part.statements):
        return None
    found = []
    for places in islice(_placings(part.statements, depth), policy().limits.placings):
        edges = list(_edges(part, places, depth))
        columns = _columns(edges, list(places), depth)
        if columns is not None:
            found.append((sum(sum(shifts.values()) for _, shifts in columns), places, edges, columns))
    if not found:
        return None
    _, places, edges, columns = min(found, key=lambda one: one[0])
    return _skewed(part, places, edges, columns) if any(sum(row) > 1 for row, _ in columns) else None


def _placings(statements: Sequence[Statement], depth: int) -> Iterator[dict[str, _Row]]:
    """For each statement the places of its loops among `depth`, the outermost first in all."""
    choices = [[(0, *rest) for rest in combinations(range(1, depth), len(one.loops) - 1)] for one in statements]
    for choice in product(*choices):
        yield {one.name: places for one, places in zip(statements, choice, strict=True)}


def _edges(part: ScheduleUnit, places: Mapping[str, _Row], depth: int) -> Iterator[_Edge]:
    """The dependences as statements and distances, loops that a statement lacks being 0."""
    maps = part.dependences.get_map_list()
    for at in range(maps.n_map()):
        relation = maps.get_map(at)
        source, sink = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        padded = _padded(_padded(relation, isl.dim_type.in_, places[source], depth), isl.dim_type.out, places[sink], depth)
        yield source, sink, _distances(padded.deltas())


def _padded(relation: isl.Map, end: isl.dim_type, places: _Row, depth: int) -> isl.Map:
    """`relation` with `depth` dims at `end`, those without a place 0, and no name."""
    for dim in range(depth):
        if dim not in places:
            relation = relation.insert_dims(end, dim, 1).fix_val(end, dim, isl.Val(0))
    return relation.set_tuple_name(end, "d")


def _distances(deltas: isl.Set) -> _Distances:
    points, sets = set(), []
    parts = deltas.get_basic_set_list()
    for at in range(parts.n_basic_set()):
        one = isl.Set.from_basic_set(parts.get_basic_set(at))
        point = [one.plain_get_val_if_fixed(isl.dim_type.set, dim) for dim in range(deltas.dim(isl.dim_type.set))]
        if all(value.is_int() for value in point):
            points.add(tuple(int(str(value)) for value in point))
        else:
            sets.append(one)
    return _Distances(frozenset(points), tuple(sets))


def _columns(edges: Sequence[_Edge], names: Sequence[str], depth: int) -> list[_Column] | None:
    """All loops, from the outside in; None where one cannot be."""
    found: list[_Column] = []
    for at in range(depth):
        column = _column(edges, names, at, depth)
        if column is None:
            return None
        found.append(column)
    return found


def _column(edges: Sequence[_Edge], names: Sequence[str], at: int, depth: int) -> _Column | None:
    """The factors of the loops that make up loop `at`, the least that will do, and each statement's shift."""
    choices = [
        one for one in product(range(policy().limits.skew_factor + 1), repeat=at) if sum(one) <= policy().limits.skew_factors
    ]
    for factors in sorted(choices, key=lambda one: (sum(one), one)):
        row = (*factors, 1, *[0] * (depth - at - 1))
        shifts = _shifts(edges, names, row)
        if shifts is not None:
            return row, shifts
    return None


def _shifts(edges: Sequence[_Edge], names: Sequence[str], row: _Row) -> dict[str, int] | None:
    """The least shifts with which no dependence goes backwards; None where there are none, or large ones only."""
    shifts = dict.fromkeys(names, 0)
    weights = []
    for source, sink, distances in edges:
        least = distances.least(row)
        if least is None or (source == sink and least < 0):
            return None
        weights.append((source, sink, least))
    for _ in range(len(names) + 1):
        late = [(sink, shifts[source] - least) for source, sink, least in weights if shifts[sink] < shifts[source] - least]
        if not late:
            return shifts if max(shifts.values()) <= policy().limits.statement_shift else None
        for sink, shift in late:
            shifts[sink] = max(shifts[sink], shift)
    return None


def _skewed(part: ScheduleUnit, places: Mapping[str, _Row], edges: Sequence[_Edge], columns: Sequence[_Column]) -> Skewed:
    rows = {name: tuple(tuple(row[place] for place in own) for row, _ in columns) for name, own in places.items()}
    shifts = {name: tuple(shift[name] for _, shift in columns) for name in places}
    values = tuple(_value(part.statements, rows, shifts, at) for at in range(len(columns)))
    total = tuple(map(sum, zip(*(row for row, _ in columns), strict=True)))
    ends = [(distances.least(total), sum(shifts[sink]) - sum(shifts[source])) for source, sink, distances in edges]
    advances = all(least is not None and least + shift > 0 for least, shift in ends)
    return Skewed(values, rows, shifts, advances)


def _value(
    statements: Sequence[Statement], rows: Mapping[str, tuple[_Row, ...]], shifts: Mapping[str, tuple[int, ...]], at: int
) -> isl.UnionPwAff:
    parts = []
    for one in statements:
        form = _form(one.domain.get_space(), rows[one.name][at]).add_constant_val(isl.Val(shifts[one.name][at]))
        parts.append(isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(form).intersect_domain(one.domain)))
    return reduce(lambda one, other: one.union_add(other), parts)


def _form(space: isl.Space, row: Sequence[int]) -> isl.Aff:
    """The sum of the dims of `space`, each times its number in `row`."""
    form = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    for dim, factor in enumerate(row):
        form = form.set_coefficient_val(isl.dim_type.in_, dim, isl.Val(factor))
    return form
