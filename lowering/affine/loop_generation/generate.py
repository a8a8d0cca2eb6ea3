"""isl's loops of a schedule, as an AST."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dlc.lowering.affine.loop_generation.ast_nodes import iterators
from dlc.lowering.affine.polyhedral.loop_marks import mark_depths, mark_parallel_bands
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.packed_buffers import buffer_accesses, subscripts_at


def generate(scop: Scop, schedule: isl.Schedule, places: dict[str, list[isl.AstExpr]] | None = None) -> isl.AstNode:
    """isl's AST of `schedule`, whose bounds are minima and maxima.

    Guards may be disjunctions: told to make none (allow_or 0), isl leaves out statements under guards that need them.
    `places` receives the subscripts of accesses to buffers, by the annotations of the user nodes that run these. The
    variables of loops and the marks tell how many loops the schedule has around, also where isl makes no loop for a single value.
    """
    context = schedule.get_ctx()
    context.set_ast_build_allow_or(1)
    context.set_ast_build_detect_min_max(1)
    context.set_ast_build_atomic_upper_bound(1)
    build = isl.AstBuild.from_context(scop.context)
    marked = mark_depths(mark_parallel_bands(schedule))
    build = build.set_iterators(iterators(_most_loops(marked)))
    if places is not None and any(buffer_accesses(statement) for statement in scop.statements):
        build, _kept = build.set_at_each_domain(_Placer(scop, places))  # the second keeps the callback alive
    return build.node_from_schedule(marked)


def _most_loops(schedule: isl.Schedule) -> int:
    """How many loops there are inside each other at most."""
    depths: list[int] = []

    def visit(node: isl.ScheduleNode) -> bool:
        depths.append(node.get_schedule_depth())
        return True

    schedule.get_root().foreach_descendant_top_down(visit)
    return max(depths)


@dataclass
class _Placer:
    """Called for each user node while isl builds it: notes the subscripts of its accesses to buffers."""

    scop: Scop
    places: dict[str, list[isl.AstExpr]]

    def __call__(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        name = node.user_get_expr().get_op_arg(0).get_id().get_name()
        note = f"at{len(self.places)}"
        self.places[note] = []
        try:
            for access in buffer_accesses(self.scop.by_name[name]):
                self.places[note] += subscripts_at(build, access)
        except isl.Error:  # an exception would end the process; the missing subscripts make an error later
            self.places[note] = []
        return node.set_annotation(isl.Id(note))
