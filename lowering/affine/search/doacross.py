"""Nests whose rows may run at once, each a little behind the row before it (doacross loops; Cytron, ICPP 1986).

    for r { for c { A[r, c] = f(A[r - 1, c], A[r, c - 1]) } }

No dependence goes from a column to an earlier one. So a row may go on to column `c` as soon as the row before has finished that;
with one thread, the rows run one after the other in the same order as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations, product

import islpy as isl

from dlc.lowering.affine.dependences.band_nests import is_band
from dlc.lowering.affine.dependences.coincidence import open_at
from dlc.lowering.affine.ir.loops import COLUMNS, ROWS
from dlc.lowering.affine.polyhedral.loop_marks import (
    LOOP,
    is_loop_mark,
    mark_band,
    marks_above,
    scratch_of,
)
from dlc.lowering.affine.polyhedral.loop_values import LoopValues, maps_of
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.polyhedral.packed_buffers import CopyStatement


def mark_doacross(schedule: isl.Schedule, dependences: isl.UnionMap, statements: Sequence[Statement]) -> isl.Schedule:
    """Give the outermost serial loop of each nest, and the loops right inside, their roles where no dependence prevents it.

    `dependences` are all that must be kept between `statements`. Those of statements that fill local memory are not among them, so
    nests with such statements get no roles.
    """
    copies = {one.name for one in statements if isinstance(one, CopyStatement)}

    def visit(top: isl.ScheduleNode) -> isl.ScheduleNode:
        band = top.child(0) if is_loop_mark(top) else top
        if not is_band(band) or is_loop_mark(top.parent()) or _has_band_around(top):
            return top
        return _with_roles(top) if _may_have_rows(band, copies) and _are_rows(band, dependences) else top

    return schedule.get_root().child(0).map_descendant_bottom_up(visit).get_schedule()


def _has_band_around(node: isl.ScheduleNode) -> bool:
    return any(is_band(node.ancestor(up)) for up in range(1, node.get_tree_depth() + 1))


def _may_have_rows(band: isl.ScheduleNode, copies: set[str]) -> bool:
    """Whether the outermost loop of a band is serial, and nothing below fills local memory."""
    outermost = marks_above(band)[0]
    if outermost.kind != LOOP or outermost.group:
        return False
    domains = band.get_domain().get_set_list()
    return all(domains.get_set(at).get_tuple_name() not in copies for at in range(domains.n_set()))


def _are_rows(band: isl.ScheduleNode, dependences: isl.UnionMap) -> bool:
    """Whether the columns of each row of the band's outermost loop run in their order, and wait for no later ones of other rows."""
    columns = list(_columns(band))
    if not columns:
        return False
    rows, parts = _value(band, 0), [_value(*column) for column in columns]
    row, column = LoopValues(rows), LoopValues(reduce(isl.UnionPwAff.union_add, parts))
    ends = [(row.rising(pairs), column) for pairs in maps_of(open_at(band, dependences))]
    if not all(value.falling(pairs).is_empty() for pairs, value in ends):
        return False
    return all(_is_before(one, other, row, column) for one, other in combinations(parts, 2))


def _columns(band: isl.ScheduleNode) -> Iterator[tuple[isl.ScheduleNode, int]]:
    """The loops right inside the first one of a band: bands and their members; none where a statement is in no such loop."""
    if band.band_n_member() > 1:
        yield band, 1
        return
    found = list(_bands_below(band.child(0)))
    bands = [one for one in found if one is not None]
    if len(bands) == len(found):
        yield from ((one, 0) for one in bands)


def _bands_below(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode | None]:
    """The outermost bands at or below a node; None for a place that has none, or whose memory the rows would share."""
    if is_band(node):
        yield node
    elif not node.n_children() or (node.get_type() == isl.schedule_node_type.mark and scratch_of(node.mark_get_id().get_name())):
        yield None
    else:
        for at in range(node.n_children()):
            yield from _bands_below(node.child(at))


def _value(band: isl.ScheduleNode, member: int) -> isl.UnionPwAff:
    """The variable of a loop, for the instances in it."""
    return band.band_get_partial_schedule().get_union_pw_aff(member).intersect_domain(band.get_domain())


def _is_before(one: isl.UnionPwAff, other: isl.UnionPwAff, row: LoopValues, column: LoopValues) -> bool:
    """Whether in each row all columns of `one` are less than those of `other`."""
    firsts, seconds = (isl.UnionMap.from_union_pw_aff(value).domain().get_set_list() for value in (one, other))
    for first, second in product(_sets(firsts), _sets(seconds)):
        pairs = row.equal(isl.Map.from_domain_and_range(first, second))
        if not pairs.is_subset(column.rising(pairs)):
            return False
    return True


def _sets(found: isl.SetList) -> Iterator[isl.Set]:
    return (found.get_set(at) for at in range(found.n_set()))


def _with_roles(top: isl.ScheduleNode) -> isl.ScheduleNode:
    """`top`, the band of the rows or its mark, with the roles of rows and columns."""
    top = _with_role(top, 0, ROWS)
    if top.child(0).band_n_member() > 1:
        return _with_role(top, 1, COLUMNS)
    return _with_columns(top.child(0).child(0)).ancestor(2)


def _with_columns(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """`node` with the role of columns for the outermost bands at or below it."""
    if is_band(node) or is_loop_mark(node):
        return _with_role(node, 0, COLUMNS)
    for at in range(node.n_children()):
        node = _with_columns(node.child(at)).parent()
    return node


def _with_role(top: isl.ScheduleNode, member: int, role: str) -> isl.ScheduleNode:
    """A band, or its mark, with a role for one of its loops; returns the mark's node."""
    band = top.child(0) if is_loop_mark(top) else top
    marks = list(marks_above(band))
    marks[member] = replace(marks[member], role=role)
    return mark_band(top.delete() if is_loop_mark(top) else top, marks)
