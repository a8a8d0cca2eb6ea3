"""Unroll-and-jam: iterations of an outer loop written out inside the loops within it."""

from __future__ import annotations

from typing import Annotated

from dlc.lowering.affine.primitives.common import cut, replace_by_blocks, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.primitives.unroll_loop import require_unrollable
from dlc.lowering.affine.schedule.loop_tree import around, on_leaves, restrict
from dlc.lowering.affine.schedule.program import Program, Result


@primitive
def unroll_and_jam(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    factor: Annotated[int, "iterations that run together"] = 2,
) -> Result:
    """Write out iterations of an outer loop inside the loops within it.

    before: affine.for %i = 0 to 100 { affine.for %k = 0 to 64 { S(%i, %k) } }
    after (factor=4): affine.for %i = 0 to 100 step 4 { affine.for %k = 0 to 64 { S(%i, %k)  S(%i + 1, %k) .. S(%i + 3, %k) } }

    What not every iteration of a group has, and iterations that fill no group, run in loops of their own.

    Iterations of inner loops that not all of the group have, and iterations that fill no group, run as before.
    """
    require_positive("factor", factor, 2)
    require_unrollable(factor)
    path = program.find(loop)
    parts = cut(program, path, factor, jammed=True)
    body = restrict(parts.loop.body, parts.whole)
    inside = None if body is None else on_leaves(body, lambda leaf: around(parts.places, leaf, "", "unroll_by_isl"))
    return replace_by_blocks(program, path, parts, inside)
