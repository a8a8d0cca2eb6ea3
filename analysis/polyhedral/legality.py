"""Whether a schedule keeps every dependence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dlc.analysis.polyhedral.dependences import Dependence


@dataclass(frozen=True, eq=False)
class Violation:
    """A dependence that a schedule breaks, and the pairs of instances for which it does."""

    dependence: Dependence
    pairs: isl.Map


def violations(dependences: Sequence[Dependence], schedule: isl.Schedule) -> list[Violation]:
    """The dependences whose sink would not run after its source; bands that are marked coincident count as ordered."""
    times = schedule.get_map()
    found = []
    for dependence in dependences:
        relation = isl.UnionMap.from_map(dependence.relation)
        relation = relation.subtract(relation.domain().union(relation.range()).identity())
        kept = _times_of(times, relation.domain()).lex_lt_union_map(_times_of(times, relation.range()))
        broken = relation.subtract(kept)
        if not broken.is_empty():
            found.append(Violation(dependence, isl.Map.from_union_map(broken)))
    return found


def _times_of(times: isl.UnionMap, instances: isl.UnionSet) -> isl.UnionMap:
    return times.intersect_domain(instances)
