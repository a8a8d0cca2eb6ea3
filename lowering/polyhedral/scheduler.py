"""isl's scheduler with our options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from dlc.analysis.polyhedral.model import Scop, Statement, union_set

Fusion = Literal["min", "max"]
"""Whether statements share loops where they must, or wherever they can."""

_MOST_STATEMENTS = 8
"""Statements in one loop that isl is asked to schedule together: 14 (`adi` of PolyBench) took it 33 s, 7 take less than 0.1 s."""

_LARGE_COEFFICIENT = re.compile(r"[1-9][0-9]+i[0-9]")
"""A loop variable times ten or more in a schedule's text: isl made one loop of several, whose bounds and guards cost too much."""


_MOST_COEFFICIENT = 2
"""Enough to skew stencils; without a bound isl does not come back from `ludcmp` of PolyBench."""


@dataclass(frozen=True, eq=False)
class Part:
    """Statements that are scheduled together, and the dependences between their instances."""

    statements: tuple[Statement, ...]
    domain: isl.UnionSet
    dependences: isl.UnionMap


def parts_of(scop: Scop, dependences: isl.UnionMap, fusion: Fusion) -> list[Part]:
    """The scop cut at its outermost loops, in their order; one part where all may share loops."""
    groups: dict[int, list[Statement]] = {}
    for statement in scop.statements:
        groups.setdefault(0 if fusion == "max" else statement.beta[0], []).append(statement)
    found = []
    for group in groups.values():
        domain = union_set([one.domain for one in group], scop.context)
        found.append(Part(tuple(group), domain, dependences.intersect_domain(domain).intersect_range(domain)))
    return found


def compute_schedules(part: Part, fusion: Fusion) -> Iterator[isl.Schedule]:
    """isl's orders of a part: loops that can be tiled together as far out as possible, and parallel loops as far out as possible.

    None where the part has too many statements for isl.
    """
    if len(part.statements) > _MOST_STATEMENTS:
        return
    context = part.domain.get_ctx()
    context.set_schedule_serialize_sccs(int(fusion == "min"))
    context.set_schedule_max_coefficient(_MOST_COEFFICIENT)
    for outer_parallel in (0, 1):
        context.set_schedule_outer_coincidence(outer_parallel)
        schedule = _isl_schedule(part.domain, part.dependences)
        if not _LARGE_COEFFICIENT.search(str(schedule)):
            yield schedule


def _isl_schedule(domain: isl.UnionSet, dependences: isl.UnionMap) -> isl.Schedule:
    constraints = isl.ScheduleConstraints.on_domain(domain)
    return constraints.set_validity(dependences).set_proximity(dependences).set_coincidence(dependences).compute_schedule()
