"""Loops distributed over their statements as far as dependences allow (Allen and Kennedy, TOPLAS 1987).

The text's loops in the text's order, but statements share one only where a cycle of dependences goes through it. No linear
programs: it takes any number of statements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_values import loop_variable
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.search.scheduler import ScheduleUnit

_Edges = Mapping[tuple[str, str], isl.Map]
"""The dependences from one statement to another, by their names."""


def distributed_schedule(part: ScheduleUnit) -> isl.Schedule:
    """The schedule tree; its bands carry no flags."""
    maps = part.dependences.get_map_list()
    edges: dict[tuple[str, str], isl.Map] = {}
    for at in range(maps.n_map()):
        relation = maps.get_map(at)
        edges[relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)] = relation
    return _sequence(part.statements, edges, 0)


def _sequence(statements: Sequence[Statement], edges: _Edges, depth: int) -> isl.Schedule:
    """The tree of statements inside the same `depth` loops; `edges` holds what these loops leave open."""
    parts = [_component(group, edges, depth) for group in _components(statements, edges)]
    return reduce(lambda before, after: before.sequence(after), parts)


def _component(group: Sequence[Statement], edges: _Edges, depth: int) -> isl.Schedule:
    """The tree of statements that a cycle holds together, or of a single one."""
    if depth == len(group[0].loops):
        (statement,) = group  # a cycle that no loop carries cannot be
        return isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain))
    names = {one.name for one in group}
    inside = {pair: _equal_at(relation, depth) for pair, relation in edges.items() if names.issuperset(pair)}
    inner = _sequence(group, {pair: relation for pair, relation in inside.items() if not relation.is_empty()}, depth + 1)
    variables = [isl.UnionPwAff.from_pw_aff(loop_variable(one, depth)) for one in group]
    whole = reduce(lambda one, other: one.union_add(other), variables)
    return inner.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(whole))


def _equal_at(relation: isl.Map, dim: int) -> isl.Map:
    """The pairs in the same iteration of the loop number `dim`."""
    return relation.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim)


def _components(statements: Sequence[Statement], edges: _Edges) -> list[list[Statement]]:
    """The strongly connected components, each after those that it depends on, and else in the order of the text."""
    order = {one.name: at for at, one in enumerate(statements)}
    reach = _reachable(list(order), edges)
    groups: list[list[Statement]] = []
    for one in statements:
        home = next((group for group in groups if group[0].name in reach[one.name] and one.name in reach[group[0].name]), None)
        groups.append([one]) if home is None else home.append(one)
    done: list[list[Statement]] = []
    while groups:
        ready = next(group for group in groups if not any(_leads(other, group, reach) for other in groups if other is not group))
        groups.remove(ready)
        done.append(ready)
    return done


def _leads(first: Sequence[Statement], second: Sequence[Statement], reach: Mapping[str, set[str]]) -> bool:
    return second[0].name in reach[first[0].name]


def _reachable(names: Sequence[str], edges: _Edges) -> dict[str, set[str]]:
    """Which statements each statement leads to."""
    reach: dict[str, set[str]] = {name: {sink for source, sink in edges if source == name and sink in names} for name in names}
    for middle in names:
        for name in names:
            if middle in reach[name]:
                reach[name] |= reach[middle]
    return reach
