"""Parallel loops whose iterations stay apart over all iterations of serial loops around them, too.

    for k { parallel for j { x[j] = f(x[j], k) } }

may run as one parallel region whose threads each do all of `k` for a range of `j`, instead of one for each `k`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

import islpy as isl

from dlc.lowering.affine.dependences.band_nests import is_band, isolate_option
from dlc.lowering.affine.dependences.coincidence import Known, open_at, stays, within_iterations
from dlc.lowering.affine.polyhedral.loop_marks import (
    PARALLEL,
    LoopMark,
    is_loop_mark,
    loop_marks_of,
    mark_band,
    mark_parallel_bands,
)
from dlc.lowering.affine.polyhedral.loop_values import LoopValues
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.polyhedral.packed_buffers import CopyStatement


def mark_parallel_groups(schedule: isl.Schedule, dependences: isl.UnionMap, statements: Sequence[Statement] = ()) -> isl.Schedule:
    """Number the outermost parallel loop of each chain and those serial loops around it that it may be moved out of.

    Beside it in these loops may be those of all `statements` that fill local memory. A loop of copies all of whose iterations fill
    what the parallel loop's iteration of the same number reads, and no other does, has its number, too.
    """
    marked = mark_parallel_bands(schedule)
    return marked.get_root().map_descendant_bottom_up(_Marking(dependences, statements).visit).get_schedule()


@dataclass
class _Marking:
    """Visits chains of bands from their outermost node, which may be a mark of loops."""

    dependences: isl.UnionMap
    statements: Sequence[Statement]
    numbers: count[int] = field(default_factory=count)
    known: Known = field(default_factory=dict)

    @cached_property
    def copies(self) -> set[str]:
        """The names of the statements that fill local memory."""
        return {one.name for one in self.statements if isinstance(one, CopyStatement)}

    def visit(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        if not _is_part(node) or _is_part(node.parent()) or _is_in_parallel_loop(node):
            return node
        bands = self._bands(node)
        marks = [mark for band in bands for mark in band]
        at = next((at for at, mark in enumerate(marks) if mark.kind == PARALLEL), 0)
        partials = self._partials(node)
        values = [LoopValues(one) for one in partials]
        first = self._outermost(node, values[: at + 1])
        if first == at:
            return node
        group = str(next(self.numbers))
        numbered = [replace(mark, group=group) if first <= place <= at else mark for place, mark in enumerate(marks)]
        return self._with_own_copies(self._with_marks(node, bands, numbered), group, partials[at])

    def _outermost(self, node: isl.ScheduleNode, values: Sequence[LoopValues]) -> int:
        """The outermost of the loops of a chain, with the variables `values`, that the last may go out of; else its place."""
        open_ones = open_at(node, self.dependences, self.known)
        for at, value in enumerate(values):
            if stays(open_ones, values[-1]):
                return at
            open_ones = within_iterations(open_ones, value)
        return len(values) - 1

    def _below(self, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """The node where the chain goes on below `node`; None where it ends."""
        if _is_part(node) or (_is_mark(node) and node.n_children()):
            return node.child(0)
        if node.get_type() != isl.schedule_node_type.sequence:
            return None
        main = [at for at in range(node.n_children()) if not self._only_copies(node.child(at))]
        return node.child(main[0]).child(0) if len(main) == 1 else None

    def _only_copies(self, node: isl.ScheduleNode) -> bool:
        domains = node.filter_get_filter().get_set_list()
        return all(domains.get_set(at).get_tuple_name() in self.copies for at in range(domains.n_set()))

    def _chain(self, node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
        """The nodes of the chain that begins at `node`."""
        below: isl.ScheduleNode | None = node
        while below is not None:
            yield below
            below = self._below(below)

    def _bands(self, node: isl.ScheduleNode) -> list[tuple[LoopMark, ...]]:
        """The marks of each band of the chain that begins at `node`."""
        found: list[tuple[LoopMark, ...]] = []
        marks: tuple[LoopMark, ...] = ()
        for each in self._chain(node):
            if is_band(each):
                found.append(marks or (LoopMark(),) * each.band_n_member())
                marks = ()
            elif is_loop_mark(each):
                marks = loop_marks_of(each.mark_get_id().get_name())
        return found

    def _partials(self, node: isl.ScheduleNode) -> list[isl.UnionPwAff]:
        """The variables of a chain's loops for each instance."""
        partials = [each.band_get_partial_schedule() for each in self._chain(node) if is_band(each)]
        return [one.get_union_pw_aff(at) for one in partials for at in range(one.dim(isl.dim_type.out))]

    def _with_marks(
        self, node: isl.ScheduleNode, bands: Sequence[tuple[LoopMark, ...]], marks: Sequence[LoopMark]
    ) -> isl.ScheduleNode:
        """The tree with new marks for a chain's loops; returns the node of its outermost mark."""
        # Code for full tiles begins inside of the parallel loop, which is one loop then: its last tile has a place in a range.
        depth, waiting, below = node.get_tree_depth(), list(marks), node
        whole: isl.Set | None = None
        for band in bands:
            while not is_band(below):
                below = below.delete() if is_loop_mark(below) else self._required_below(below)
            own = [waiting.pop(0) for _ in band]
            if whole is not None:
                below, whole = _with_isolated(below, whole), None
            if any(mark.group and mark.kind == PARALLEL for mark in own) and waiting:
                whole = _isolated(below)
                below = below.band_set_ast_build_options(isl.UnionSet("{ }")) if whole is not None else below
            below = mark_band(below, own).child(0).child(0)
        return below.ancestor(below.get_tree_depth() - depth)

    def _with_own_copies(self, node: isl.ScheduleNode, group: str, value: isl.UnionPwAff) -> isl.ScheduleNode:
        """The chain with loops of copies numbered that fill what the parallel loop, whose variable has that value, reads."""
        depth, below, after = node.get_tree_depth(), node, self._below(node)
        while after is not None:
            if below.get_type() == isl.schedule_node_type.sequence:
                for at in range(below.n_children()):
                    below = self._numbered_copies(below.child(at), group, value).parent()
                after = self._required_below(below)
            below, after = after, self._below(after)
        return below.ancestor(below.get_tree_depth() - depth)

    def _numbered_copies(self, part: isl.ScheduleNode, group: str, value: isl.UnionPwAff) -> isl.ScheduleNode:
        """`part` of a sequence, its outermost loop numbered where that fills what iterations of the same value read."""
        mark = part.child(0)
        if not self._only_copies(part) or not is_loop_mark(mark) or mark.child(0).band_n_member() != 1:
            return part
        own = mark.child(0).band_get_partial_schedule().get_union_pw_aff(0)
        uses = open_at(part.parent(), self._uses(part.filter_get_filter()))
        if uses.is_empty() or not stays(uses, LoopValues(value.union_add(own))):
            return part
        band = mark.delete().band_member_set_coincident(0, 1)
        return mark_band(band, [LoopMark(PARALLEL, group=group)]).parent()

    def _uses(self, copies: isl.UnionSet) -> isl.UnionMap:
        """The instances of `copies` to those that read what they write, in whichever iteration."""
        found = isl.UnionMap.empty(copies.get_space())
        for copy in (one for one in self.statements if one.name in self.copies):
            filled = copy.writes[0]
            for read in (access for one in self.statements for access in one.reads if access.array is filled.array):
                found = found.union(isl.UnionMap.from_map(filled.relation.apply_range(read.relation.reverse())))
        return found.intersect_domain(copies)

    def _required_below(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        found = self._below(node)
        assert found is not None
        return found


def _isolated(band: isl.ScheduleNode) -> isl.Set | None:
    """The iterations of the loops to a band of one loop for which code is made separately; None for no such."""
    sets = band.band_get_ast_build_options().get_set_list()
    if band.band_n_member() != 1 or sets.n_set() != 1 or sets.get_set(0).get_tuple_name() != "isolate":
        return None
    pairs = sets.get_set(0).reset_tuple_id().unwrap()
    return pairs.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, pairs.dim(isl.dim_type.in_)).range()


def _with_isolated(band: isl.ScheduleNode, outer: isl.Set) -> isl.ScheduleNode:
    """`band`, of one loop, with code made separately for the iterations `outer` of the loops around that are its own, too."""
    known = _isolated(band)
    iterations = outer.add_dims(isl.dim_type.set, 1)
    both = iterations if known is None else iterations.intersect(known)
    return band.band_set_ast_build_options(isolate_option(both))


def _is_part(node: isl.ScheduleNode) -> bool:
    """Whether `node` is a band of a chain, or the mark of one."""
    return is_band(node) or is_loop_mark(node)


def _is_in_parallel_loop(node: isl.ScheduleNode) -> bool:
    """Whether a loop around `node` is parallel: that one becomes the parallel region."""
    while node.has_parent():
        node = node.parent()
        if is_loop_mark(node) and any(mark.kind == PARALLEL for mark in loop_marks_of(node.mark_get_id().get_name())):
            return True
    return False


def _is_mark(node: isl.ScheduleNode) -> bool:
    return bool(node.get_type() == isl.schedule_node_type.mark)
