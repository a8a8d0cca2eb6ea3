"""isl's scheduler with our options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import islpy as isl

from dlc.analysis.polyhedral.model import Scop, Statement, union_set


@dataclass(frozen=True)
class SchedulerOptions:
    """What the scheduler aims at.

    `fusion`: whether statements share loops where they must, or wherever they can.
    """

    fusion: Literal["min", "max"] = "min"


_MOST_STATEMENTS = 8
"""Statements in one loop that isl is asked to schedule together: 14 (`adi` of PolyBench) took it 33 s, 7 take less than 0.1 s."""


def compute_schedule(scop: Scop, dependences: isl.UnionMap, options: SchedulerOptions) -> isl.Schedule:
    """A schedule with parallel loops as far out as they go.

    Loops around too many statements for isl stay outermost, as they are, and the loops inside are scheduled for each
    iteration; `dependences` are all those to keep.
    """
    context = scop.domain.get_ctx()
    context.set_schedule_serialize_sccs(int(options.fusion == "min"))
    context.set_schedule_outer_coincidence(1)
    groups = _by_outer_loop(scop)
    if all(len(group) <= _MOST_STATEMENTS for group in groups):
        return _scheduled(scop.domain, dependences)
    parts = [_group_schedule(union_set([one.domain for one in group], scop.context), group, dependences) for group in groups]
    return reduce(lambda before, after: before.sequence(after), parts)


def _by_outer_loop(scop: Scop) -> list[list[Statement]]:
    """The statements of each outermost loop, in the order of the text."""
    groups: dict[int, list[Statement]] = {}
    for statement in scop.statements:
        groups.setdefault(statement.beta[0], []).append(statement)
    return list(groups.values())


def _group_schedule(domain: isl.UnionSet, group: Sequence[Statement], dependences: isl.UnionMap) -> isl.Schedule:
    """The schedule of statements that may share their outermost loop, which stays where they are too many."""
    own = dependences.intersect_domain(domain).intersect_range(domain)
    if len(group) <= _MOST_STATEMENTS or not group[0].loops:
        return _scheduled(domain, own)
    outer = outer_loop(group)
    inside = own.intersect(outer.apply_range(outer.reverse()))
    schedule = _scheduled(domain, inside)
    return schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_map(outer))


def outer_loop(group: Sequence[Statement]) -> isl.UnionMap:
    """The variable of the outermost loop for each instance of its statements."""
    maps = [isl.Map.identity(one.domain.get_space().map_from_set()).intersect_domain(one.domain) for one in group]
    values = [map.project_out(isl.dim_type.out, 1, map.dim(isl.dim_type.out) - 1).reset_tuple_id(isl.dim_type.out) for map in maps]
    return reduce(lambda one, other: one.union(other), [isl.UnionMap.from_map(value) for value in values])


def _scheduled(domain: isl.UnionSet, dependences: isl.UnionMap) -> isl.Schedule:
    constraints = isl.ScheduleConstraints.on_domain(domain)
    return constraints.set_validity(dependences).set_proximity(dependences).set_coincidence(dependences).compute_schedule()
