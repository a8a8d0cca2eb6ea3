"""Which loops of a schedule carry no dependence."""

from __future__ import annotations

import islpy as isl

from dlc.lowering.polyhedral.chains import is_band


def with_coincidence(schedule: isl.Schedule, dependences: isl.UnionMap) -> isl.Schedule:
    """The schedule with each band member marked coincident along which no dependence goes that the loops around leave open."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if not is_band(node):
            return node
        open_ones = between_equal(dependences, node.get_domain(), node.get_prefix_schedule_union_map())
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            value = isl.UnionMap.from_union_pw_aff(partial.get_union_pw_aff(member))
            node = node.band_member_set_coincident(member, int(stays(open_ones, value)))
        return node

    return schedule.get_root().map_descendant_bottom_up(visit).get_schedule()


def between_equal(dependences: isl.UnionMap, domain: isl.UnionSet, prefix: isl.UnionMap) -> isl.UnionMap:
    """The dependences between instances in `domain` at the same `prefix`, the variables of some loops."""
    own = dependences.intersect_domain(domain).intersect_range(domain)
    return own.intersect(prefix.apply_range(prefix.reverse()))


def stays(dependences: isl.UnionMap, value: isl.UnionMap) -> bool:
    """Whether `value` is the same at both ends of each dependence."""
    return bool(dependences.is_subset(value.apply_range(value.reverse())))
