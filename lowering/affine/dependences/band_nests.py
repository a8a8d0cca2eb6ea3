"""Chains of bands: bands directly inside each other, whose members are the loops around the same statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_marks import LANES, PARALLEL, LoopMark, mark_band, mark_scratch


@dataclass(frozen=True, eq=False)
class Member:
    """One loop of a chain: `value` gives its variable for each instance.

    Members of one `band` may be ordered anew where it is permutable; a coincident one carries no dependence.
    """

    value: isl.UnionPwAff
    band: int
    is_coincident: bool
    is_permutable: bool


@dataclass(frozen=True, eq=False)
class LoopToBuild:
    """A loop to build: its variable for each instance, and what becomes of it.

    With `isolated`, code is made separately for those of its iterations (sets of the variables of all loops from the outside
    to this one). The memory of `buffers` exists while the loop runs.
    """

    value: isl.UnionPwAff
    mark: LoopMark
    isolated: isl.Set | None = None
    buffers: tuple[str, ...] = ()


Rebuild = Callable[[isl.ScheduleNode, Sequence[Member]], "Sequence[LoopToBuild] | None"]
"""From a chain's outermost band and its members to the levels that replace it; None keeps it."""


def rebuild_innermost_chains(schedule: isl.Schedule, rebuild: Rebuild) -> isl.Schedule:
    """Replace each chain that has no band below."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if not is_band(node) or is_band(node.parent()) or _has_inner_chain(node):
            return node
        levels = rebuild(node, members_of(node))
        return node if levels is None else replace_chain(node, levels)

    return schedule.get_root().map_descendant_bottom_up(visit).get_schedule()


def is_band(node: isl.ScheduleNode) -> bool:
    """Whether `node` is a band."""
    return bool(node.get_type() == isl.schedule_node_type.band)


def members_of(node: isl.ScheduleNode) -> list[Member]:
    """The loops of the chain whose outermost band is `node`."""
    found: list[Member] = []
    band = 0
    while is_band(node):
        partial, permutable = node.band_get_partial_schedule(), bool(node.band_get_permutable())
        for at in range(node.band_n_member()):
            coincident = bool(node.band_member_get_coincident(at))
            found.append(Member(partial.get_union_pw_aff(at), band, coincident, permutable))
        node, band = node.child(0), band + 1
    return found


def _has_inner_chain(node: isl.ScheduleNode) -> bool:
    """Whether there is a band below the chain of `node`."""
    while is_band(node):
        node = node.child(0)
    return _has_band(node)


def _has_band(node: isl.ScheduleNode) -> bool:
    return is_band(node) or any(_has_band(node.child(at)) for at in range(node.n_children()))


def replace_chain(node: isl.ScheduleNode, levels: Sequence[LoopToBuild]) -> isl.ScheduleNode:
    """The tree with `levels` in place of the chain of `node`; returns the node of the outermost."""
    while is_band(node):
        node = node.delete()
    depth = node.get_tree_depth()
    for level in levels:
        for buffer in level.buffers:
            node = mark_scratch(node, buffer).child(0)
        node = node.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(level.value))
        node = node.band_member_set_coincident(0, int(level.mark.kind in (PARALLEL, LANES)))
        node = mark_band(node, [level.mark]).child(0)
        if level.isolated is not None:
            node = node.band_set_ast_build_options(isolate_option(level.isolated))
        node = node.child(0)
    return node.ancestor(node.get_tree_depth() - depth)


def isolate_option(iterations: isl.Set) -> isl.UnionSet:
    """The AST option that isolates `iterations`, whose last dim is the band's own: `isolate[[outer] -> [own]]`."""
    outer = iterations.dim(isl.dim_type.set) - 1
    pairs = isl.Map.from_range(iterations).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, outer)
    return isl.UnionSet.from_set(pairs.wrap().set_tuple_name("isolate"))
