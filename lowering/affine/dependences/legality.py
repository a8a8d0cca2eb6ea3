"""Whether a schedule keeps every dependence, and whether its parallel loops carry none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import islpy as isl

from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.dependences.witness import Witness, witness_of
from dlc.lowering.affine.polyhedral.loop_values import LoopValues, maps_of

_UNORDERED = ("parallel", "lanes")
_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_Node = isl.schedule_node_type

_Found = tuple[int, isl.Map]
"""The number of a dependence, and some of its pairs."""


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

    def find(open_ones: _OpenPairs) -> Sequence[_Found]:
        broken: list[list[isl.Map]] = [[] for _ in dependences]
        _find_broken(schedule.get_root(), open_ones, broken)
        return [(at, reduce(isl.Map.union, parts)) for at, parts in enumerate(broken) if parts]

    return _violations(dependences, find, schedule)


def carried_by_parallel(
    dependences: Sequence[Dependence],
    schedule: isl.Schedule,
    kinds_of: Callable[[str], Sequence[str]] = lambda mark: (),
) -> list[Violation]:
    """The dependences between iterations of a loop of `schedule` that has no order.

    Such are the members of bands that are coincident, or that the mark above the band calls parallel or lanes: `kinds_of` gives
    what a mark says, one kind a member. Loops further out, and members before it, count as fixed.
    """

    def find(open_ones: _OpenPairs) -> Sequence[_Found]:
        return list(_find_carried(schedule.get_root(), open_ones, kinds_of))

    return _violations(dependences, find, schedule)


def _violations(
    dependences: Sequence[Dependence], find: Callable[[_OpenPairs], Sequence[_Found]], schedule: isl.Schedule
) -> list[Violation]:
    """What `find` finds between instances of `schedule`, by dependence.

    Most often it finds nothing, which the pairs of all dependences tell at once: 42 of `heat-3d` are 4 relations.
    """
    domain = _Domain.of(schedule.get_domain())
    if not any(_OpenPairs({at: pairs}).between(domain, domain).pairs for at, pairs in find(_OpenPairs.joined(dependences))):
        return []
    inside = [_OpenPairs({at: pairs}).between(domain, domain) for at, pairs in find(_OpenPairs.of(dependences))]
    return [Violation(dependences[at], pairs.coalesce()) for one in inside for at, pairs in one.pairs.items()]


def _between_instances(relation: isl.Map) -> isl.Map:
    """`relation` without the pairs within one instance, which no schedule can break."""
    if not relation.get_space().has_equal_tuples(relation.get_space().domain().map_from_set()):
        return relation
    return relation.subtract(isl.Map.identity(relation.get_space()))


@dataclass(frozen=True, eq=False)
class _Domain:
    """Instances, by the names of their statements."""

    sets: Mapping[str, isl.Set]

    @classmethod
    def of(cls, domain: isl.UnionSet) -> _Domain:
        sets = domain.get_set_list()
        return cls({one.get_tuple_name(): one for one in (sets.get_set(at) for at in range(sets.n_set()))})


@dataclass(frozen=True, eq=False)
class _OpenPairs:
    """The pairs of dependences that the loops around a node leave open, by the numbers of the dependences; none is empty."""

    pairs: Mapping[int, isl.Map]

    @classmethod
    def of(cls, dependences: Sequence[Dependence]) -> _OpenPairs:
        return cls._of(((at, _between_instances(one.relation)) for at, one in enumerate(dependences)))

    @classmethod
    def joined(cls, dependences: Sequence[Dependence]) -> _OpenPairs:
        """Those of all dependences, one relation for each two statements."""
        relations = [isl.UnionMap.from_map(_between_instances(one.relation)) for one in dependences]
        joined = maps_of(reduce(isl.UnionMap.union, relations).coalesce()) if relations else ()
        return cls._of(enumerate(joined))

    @classmethod
    def _of(cls, found: Iterable[_Found]) -> _OpenPairs:
        return cls({at: pairs for at, pairs in found if not pairs.is_empty()})

    def apply(self, change: Callable[[isl.Map], isl.Map]) -> _OpenPairs:
        """What is left of each."""
        return self._of((at, change(pairs)) for at, pairs in self.pairs.items())

    def between(self, first: _Domain, second: _Domain) -> _OpenPairs:
        """The pairs from instances in `first` to those in `second`."""
        return self._of(
            (at, self.pairs[at].intersect_domain(first.sets[source]).intersect_range(second.sets[sink]))
            for at, (source, sink) in self._ends.items()
            if source in first.sets and sink in second.sets
        )

    @cached_property
    def _ends(self) -> Mapping[int, tuple[str, str]]:
        """The names of the statements at both ends."""
        return {at: (pairs.get_tuple_name(_IN), pairs.get_tuple_name(_OUT)) for at, pairs in self.pairs.items()}


def _find_broken(node: isl.ScheduleNode, open_ones: _OpenPairs, broken: Sequence[list[isl.Map]]) -> None:
    """Add to `broken` those of the pairs that run below `node` in the wrong order, or at once."""
    if not open_ones.pairs:
        return
    if node.get_type() == _Node.band:
        for value in _values_of(node):
            _note(broken, open_ones.apply(value.falling))
            open_ones = open_ones.apply(value.equal)
    if not node.n_children():
        _note(broken, open_ones)
    elif node.get_type() in (_Node.sequence, _Node.set):
        filters = [_Domain.of(node.child(at).filter_get_filter()) for at in range(node.n_children())]
        for at, own in enumerate(filters):
            for before in filters[:at]:
                _note(broken, open_ones.between(own, before))
            _find_broken(node.child(at), open_ones.between(own, own), broken)
    else:
        _find_broken(node.child(0), open_ones, broken)


def _note(broken: Sequence[list[isl.Map]], found: _OpenPairs) -> None:
    for at, pairs in found.pairs.items():
        broken[at].append(pairs)


def _find_carried(node: isl.ScheduleNode, open_ones: _OpenPairs, kinds_of: Callable[[str], Sequence[str]]) -> Iterator[_Found]:
    """For each loop without an order below `node`, the pairs that it carries."""
    if not open_ones.pairs:
        return
    if node.get_type() == _Node.band:
        kinds = _kinds_above(node, kinds_of)
        for at, value in enumerate(_values_of(node)):
            if node.band_member_get_coincident(at) or (at < len(kinds) and kinds[at] in _UNORDERED):
                yield from open_ones.apply(value.different).pairs.items()
            open_ones = open_ones.apply(value.equal)
    for at in range(node.n_children()):
        child = node.child(at)
        if child.get_type() == _Node.filter:
            own = _Domain.of(child.filter_get_filter())
            yield from _find_carried(child, open_ones.between(own, own), kinds_of)
        else:
            yield from _find_carried(child, open_ones, kinds_of)


def _values_of(band: isl.ScheduleNode) -> Iterator[LoopValues]:
    """The variables of a band's loops, from the outside in."""
    partial = band.band_get_partial_schedule()
    return (LoopValues(partial.get_union_pw_aff(at)) for at in range(band.band_n_member()))


def _kinds_above(node: isl.ScheduleNode, kinds_of: Callable[[str], Sequence[str]]) -> Sequence[str]:
    above = node.parent()
    return kinds_of(above.mark_get_id().get_name()) if above.get_type() == _Node.mark else ()
