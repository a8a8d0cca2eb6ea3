"""Unrolling: iterations written out one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import islpy as isl

from dlc.lowering.affine.primitives.common import cut, loop_at, replace_by_blocks, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import first_values
from dlc.lowering.affine.schedule.loop_tree import LoopNode, put, restrict
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result
from dlc.lowering.policy import policy


@primitive
def unroll(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    factor: Annotated[int, "iterations that are written out; 0: all of them"] = 0,
) -> Result:
    """Write out iterations of a loop one after the other.

    before: affine.for %i = 0 to 100 { S(%i) }
    after (factor=8): affine.for %i = 0 to 96 step 8 { S(%i)  S(%i + 1) .. S(%i + 7) }   affine.for %i = 96 to 100 { S(%i) }

    The loop over what is left is called `<name>.rest`.

    Always legal.

    What does not fill a group runs in loops of its own before and after, whose names follow that of the loop over groups.
    """
    path = program.find(loop)
    require_unrollable(factor)
    if not factor:
        old = loop_at(program, path)
        _require_few(program, path, loop)
        name = old.name or program.fresh_name(program.base_name(path))
        return program.changed(put(program.tree, path, replace(old, kind="unroll_by_isl", name=name))), ()
    parts = cut(program, path, factor, jammed=False)
    body = restrict(parts.loop.body, parts.whole)
    copies = None if body is None else LoopNode(body.domain, parts.places.intersect_domain(body.domain), body, "", "unroll_by_isl")
    return replace_by_blocks(program, path, parts, copies)


def require_unrollable(factor: int) -> None:
    """PrimitiveError for a factor that makes too many copies."""
    require_positive("factor", factor, 0)
    if factor > policy().limits.unrolled_copies:
        raise PrimitiveError(f"factor is {factor}", f"give {policy().limits.unrolled_copies} or less")


def _require_few(program: Program, path: tuple[int, ...], loop: str) -> None:
    distance = loop_at(program, path).values.sub(first_values(program.tree, path, path))
    values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(distance).range()).project_out_all_params()
    if not values.is_bounded() or int(str(values.dim_max_val(0))) >= policy().limits.unrolled_copies * int(
        str(values.get_stride(0)) or 1
    ):
        raise PrimitiveError(f"loop '{loop}' does not have {policy().limits.unrolled_copies} iterations or fewer", "give a factor")
