"""Unroll-and-jam: iterations of an outer loop written out inside the loops within it."""

from __future__ import annotations

from dlc.lowering.polyhedral.loop_tree import around, on_leaves, restrict
from dlc.lowering.polyhedral.primitives.common import Result, cut, replace_by_blocks, require_positive
from dlc.lowering.polyhedral.primitives.unroll import require_unrollable
from dlc.lowering.polyhedral.program import Program


def unroll_and_jam(program: Program, loop: str, factor: int) -> Result:
    """Run `factor` iterations of `loop` together, each statement of its body once for each of them.

    Iterations of inner loops that not all of the group have, and iterations that fill no group, run as before.

    for i { for k { S(i, k) } }, 4  ->  for i (step 4) { for k { S(i, k) S(i + 1, k) S(i + 2, k) S(i + 3, k) } }  and the rest
    """
    require_positive("factor", factor, 2)
    require_unrollable(factor)
    path = program.find(loop)
    parts = cut(program, path, factor, jammed=True)
    body = restrict(parts.loop.body, parts.whole)
    inside = None if body is None else on_leaves(body, lambda leaf: around(parts.places, leaf, "", "unrolled"))
    return replace_by_blocks(program, path, parts, inside)
