"""isl's scheduler with our options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from dlc.lowering.affine.dependences.coincidence import between_instances
from dlc.lowering.affine.polyhedral.model import Scop, Statement, union_set
from dlc.lowering.affine.search.bounded_scheduler import OutOfBoundsError, within_bounds
from dlc.lowering.policy import policy

Fusion = Literal["min", "max", "smart"]
"""Whether statements share loops where they must, wherever they can, or as `min` but for blocks of rows (`row_blocks.py`)."""


_LARGE_COEFFICIENT = re.compile(r"[1-9][0-9]+i[0-9]")
"""A loop variable times ten or more in a schedule's text: isl made one loop of several, whose bounds and guards cost too much."""


@dataclass(frozen=True, eq=False)
class ScheduleUnit:
    """Statements that are scheduled together, and the dependences between their instances."""

    statements: tuple[Statement, ...]
    domain: isl.UnionSet
    dependences: isl.UnionMap


def parts_of(scop: Scop, dependences: isl.UnionMap, fusion: Fusion) -> list[ScheduleUnit]:
    """The scop cut at its outermost loops, in their order; one part where all may share loops."""
    groups: dict[int, list[Statement]] = {}
    for statement in scop.statements:
        groups.setdefault(0 if fusion == "max" else statement.beta[0], []).append(statement)
    found = []
    for group in groups.values():
        domain = union_set([one.domain for one in group], scop.context)
        found.append(ScheduleUnit(tuple(group), domain, between_instances(dependences, domain)))
    return found


def compute_schedules(part: ScheduleUnit, fusion: Fusion, refused: Callable[[str], None] | None = None) -> Iterator[isl.Schedule]:
    """isl's orders of a part: loops that can be tiled together as far out as possible, and parallel loops as far out as possible.

    None where the part is too much for isl (`bounded_scheduler.py`); `refused` is told why.
    """
    try:
        found = _within_bounds(part, fusion)
    except OutOfBoundsError as error:
        if refused is not None:
            refused(str(error))
        return
    yield from (schedule for schedule in found if not _LARGE_COEFFICIENT.search(str(schedule)))


def _within_bounds(part: ScheduleUnit, fusion: Fusion) -> list[isl.Schedule]:
    if len(part.statements) > policy().limits.scheduled_statements:
        raise OutOfBoundsError(
            f"{len(part.statements)} statements in one loop are more than {policy().limits.scheduled_statements}"
        )
    context = part.domain.get_ctx()
    context.set_schedule_serialize_sccs(int(fusion != "max"))
    context.set_schedule_max_coefficient(policy().limits.schedule_coefficient)

    size = sum(len(one.loops) for one in part.statements) * _pieces(part.dependences)
    solve_one = _schedule_of if size <= policy().limits.scheduler_quick_size else _simple_schedule_of

    def solve() -> list[isl.Schedule]:
        found, failures = [], []
        for outer_parallel in (0, 1):
            context.set_schedule_outer_coincidence(outer_parallel)
            try:
                found.append(solve_one(part))
            except isl.Error as error:  # one way may fail where the other does not
                failures.append(error)
        if not found:
            raise failures[0]
        return found

    return within_bounds(context, size, solve)


def _schedule_of(part: ScheduleUnit) -> isl.Schedule:
    return _isl_schedule(part.domain, part.dependences)


def _simple_schedule_of(part: ScheduleUnit) -> isl.Schedule:
    """isl's schedule of a large part, for dependences without the constraints of the loops' bounds where there is one for these.

    Without these constraints there are more pairs to keep, which useful orders keep anyway, and isl is faster without the large
    numbers of bounds: 2 ms instead of 240 for `doitgen` of PolyBench, 3 instead of 210 for `ludcmp`. (Polly does the same by
    default.)
    """
    simple = part.dependences.gist_domain(part.domain).gist_range(part.domain)
    try:
        return _isl_schedule(part.domain, simple)
    except isl.Error:
        return _schedule_of(part)


def _pieces(dependences: isl.UnionMap) -> int:
    """The convex pieces of the dependences."""
    maps = dependences.get_map_list()
    return sum(maps.get_map(at).get_basic_map_list().n_basic_map() for at in range(maps.n_map()))


def _isl_schedule(domain: isl.UnionSet, dependences: isl.UnionMap) -> isl.Schedule:
    constraints = isl.ScheduleConstraints.on_domain(domain)
    return constraints.set_validity(dependences).set_proximity(dependences).set_coincidence(dependences).compute_schedule()
