"""Whether a schedule keeps every dependence, and whether its parallel loops carry none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from dlc.analysis.polyhedral.dependences import Dependence
from dlc.analysis.polyhedral.witness import Witness, witness_of

_UNORDERED = ("parallel", "lanes")


@dataclass(frozen=True, eq=False)
class Violation:
    """A dependence that a schedule breaks, and the pairs of instances for which it does."""

    dependence: Dependence
    pairs: isl.Map

    @cached_property
    def witness(self) -> Witness:
        """The first of the pairs, for small values of the parameters."""
        return witness_of(self.dependence, self.pairs)


def violations(dependences: Sequence[Dependence], schedule: isl.Schedule) -> list[Violation]:
    """The dependences whose sink would not run after its source; bands that are marked coincident count as ordered."""
    times = _Times(schedule.get_map())
    found = []
    for dependence in dependences:
        relation = _between_instances(dependence.relation)
        if relation.is_empty():
            continue
        broken = times.not_after(relation)
        if not broken.is_empty():
            found.append(Violation(dependence, broken))
    return found


def carried_by_parallel(
    dependences: Sequence[Dependence],
    schedule: isl.Schedule,
    words_of: Callable[[str], Sequence[str]] = lambda mark: (),
) -> list[Violation]:
    """The dependences between iterations of a loop of `schedule` that has no order.

    Such are the members of bands that are coincident, or that the mark above the band calls parallel or lanes: `words_of` gives
    a mark's words, one a member. Loops further out, and members before it, count as fixed.
    """
    found = []
    for times, member in _unordered_members(schedule, words_of):
        for dependence in dependences:
            relation = _between_instances(dependence.relation)
            carried = times.differs_first_at(relation, member)
            if not carried.is_empty():
                found.append(Violation(dependence, carried))
    return found


def _between_instances(relation: isl.Map) -> isl.Map:
    """`relation` without the pairs within one instance, which no schedule can break."""
    if not relation.get_space().has_equal_tuples(relation.get_space().domain().map_from_set()):
        return relation
    return relation.subtract(isl.Map.identity(relation.get_space()))


class _Times:
    """When instances run, by statement."""

    def __init__(self, times: isl.UnionMap) -> None:
        self._by_name: dict[str, isl.Map] = {}
        times.foreach_map(self._add)

    def _add(self, one: isl.Map) -> None:
        self._by_name[one.get_tuple_name(isl.dim_type.in_)] = one

    def not_after(self, relation: isl.Map) -> isl.Map:
        """The pairs whose second instance does not run after the first."""
        delays = self._delays(relation)
        if delays is None:
            return isl.Map.empty(relation.get_space())
        wrong = delays.intersect_range(_not_positive(delays.range().get_space()))
        return wrong.domain().unwrap().coalesce()

    def differs_first_at(self, relation: isl.Map, dim: int) -> isl.Map:
        """The pairs whose times agree in the dims before `dim`, and not in it."""
        delays = self._delays(relation)
        if delays is None:
            return isl.Map.empty(relation.get_space())
        for outer in range(dim):
            delays = delays.fix_val(isl.dim_type.out, outer, isl.Val(0))
        return delays.subtract(delays.fix_val(isl.dim_type.out, dim, isl.Val(0))).domain().unwrap().coalesce()

    def _delays(self, relation: isl.Map) -> isl.Map | None:
        """`[source -> sink] -> time of sink - time of source`; None where the schedule does not have both."""
        source = self._by_name.get(relation.get_tuple_name(isl.dim_type.in_))
        sink = self._by_name.get(relation.get_tuple_name(isl.dim_type.out))
        if source is None or sink is None:
            return None
        ends = relation.domain_map().apply_range(source), relation.range_map().apply_range(sink)
        return ends[1].sum(ends[0].neg())


def _not_positive(space: isl.Space) -> isl.Set:
    """Vectors that are zero, or whose first element other than zero is negative."""
    universe = isl.Set.universe(space)
    found = isl.Set.empty(space)
    for dim in range(space.dim(isl.dim_type.set)):
        found = found.union(universe.upper_bound_val(isl.dim_type.set, dim, isl.Val(-1)))
        universe = universe.fix_val(isl.dim_type.set, dim, isl.Val(0))
    return found.union(universe)


def _unordered_members(schedule: isl.Schedule, words_of: Callable[[str], Sequence[str]]) -> Iterator[tuple[_Times, int]]:
    """The members of bands whose iterations have no order: the times down to them, and their dim in these."""
    for node in _nodes(schedule.get_root()):
        if node.get_type() != isl.schedule_node_type.band:
            continue
        words = _words_above(node, words_of)
        members = range(node.band_n_member())
        unordered = [node.band_member_get_coincident(at) or (at < len(words) and words[at] in _UNORDERED) for at in members]
        if not any(unordered):
            continue
        outer = node.get_prefix_schedule_union_map()
        times = _Times(outer.flat_range_product(node.band_get_partial_schedule_union_map()))
        depth = node.get_prefix_schedule_multi_union_pw_aff().dim(isl.dim_type.out)
        yield from ((times, depth + at) for at in members if unordered[at])


def _words_above(node: isl.ScheduleNode, words_of: Callable[[str], Sequence[str]]) -> Sequence[str]:
    above = node.parent()
    return words_of(above.mark_get_id().get_name()) if above.get_type() == isl.schedule_node_type.mark else ()


def _nodes(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    yield node
    for at in range(node.n_children()):
        yield from _nodes(node.child(at))
