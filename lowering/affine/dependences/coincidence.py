"""Which loops of a schedule carry no dependence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from dlc.lowering.affine.dependences.band_nests import is_band
from dlc.lowering.affine.polyhedral.loop_values import LoopValues, maps_of, union_of


def with_coincidence(schedule: isl.Schedule, dependences: isl.UnionMap) -> isl.Schedule:
    """The schedule with each band member marked coincident along which no dependence goes that the loops around leave open."""
    return _marked(schedule.get_root(), list(maps_of(dependences))).get_schedule()


def _marked(node: isl.ScheduleNode, open_ones: Sequence[isl.Map]) -> isl.ScheduleNode:
    """`node` with all bands below marked; the loops around leave the pairs `open_ones` open."""
    if is_band(node):
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            value = LoopValues(partial.get_union_pw_aff(member))
            same = [value.is_same(one) for one in open_ones]
            node = node.band_member_set_coincident(member, int(all(same)))
            kept = [one for one, is_same in zip(open_ones, same, strict=True) if is_same]
            left = [one for one, is_same in zip(open_ones, same, strict=True) if not is_same]
            open_ones = [*kept, *_within(left, value)]
    elif node.get_type() == isl.schedule_node_type.filter:
        open_ones = _between(open_ones, node.filter_get_filter())
    for at in range(node.n_children()):
        node = _marked(node.child(at), open_ones).parent()
    return node


def _within(pairs: Iterable[isl.Map], value: LoopValues) -> list[isl.Map]:
    """Those of the pairs that are in one iteration of a loop."""
    return [equal for one in pairs if not (equal := value.equal(one)).is_empty()]


def _between(pairs: Sequence[isl.Map], domain: isl.UnionSet) -> list[isl.Map]:
    """Those of the pairs whose ends both lie in `domain`."""
    found = []
    for one in pairs:
        space = one.get_space()
        inside = one.intersect_domain(domain.extract_set(space.domain())).intersect_range(domain.extract_set(space.range()))
        if not inside.is_empty():
            found.append(inside)
    return found


Known = dict[tuple[int, ...], Sequence[isl.Map]]
"""The pairs that nodes of a tree leave open, by the places of these and of the nodes around in the bodies of their parents."""


def open_at(node: isl.ScheduleNode, dependences: isl.UnionMap, known: Known | None = None) -> isl.UnionMap:
    """The dependences between instances below `node` that the loops around leave open.

    `known` keeps what is found for the nodes around, for other nodes of a tree that is the same above them.
    """
    pairs: Sequence[isl.Map] = list(maps_of(dependences))
    known = {} if known is None else known
    path: tuple[int, ...] = ()
    for up in reversed(range(1, node.get_tree_depth() + 1)):
        around = node.ancestor(up)
        path = (*path, around.get_child_position()) if around.has_parent() else path
        if path not in known:
            known[path] = _inside(around, pairs)
        pairs = known[path]
    return union_of(pairs, dependences.get_space())


def _inside(node: isl.ScheduleNode, pairs: Sequence[isl.Map]) -> Sequence[isl.Map]:
    """Those of the pairs that `node` leaves open."""
    if node.get_type() == isl.schedule_node_type.filter:
        return _between(pairs, node.filter_get_filter())
    if is_band(node):
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            pairs = _within(pairs, LoopValues(partial.get_union_pw_aff(member)))
    return pairs


def within_iterations(dependences: isl.UnionMap, value: LoopValues) -> isl.UnionMap:
    """The dependences within one iteration of the loop whose variable is `value`."""
    return union_of(_within(maps_of(dependences), value), dependences.get_space())


def between_instances(dependences: isl.UnionMap, instances: isl.UnionSet) -> isl.UnionMap:
    """The dependences both ends of which are among `instances`."""
    return dependences.intersect_domain(instances).intersect_range(instances)


def stays(dependences: isl.UnionMap, value: LoopValues) -> bool:
    """Whether `value` is the same at both ends of each dependence."""
    return all(map(value.is_same, maps_of(dependences)))
