"""Fusion: two loops after each other become one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import LoopNode, SequenceNode, at, block, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def fuse(
    program: Program,
    first: Annotated[str, "one loop"] = "",
    second: Annotated[str, "another loop of the same block"] = "",
) -> Result:
    """Make one loop of two that follow each other.

    before: affine.for %i = 0 to 100 { S0(%i) }   affine.for %i = 0 to 100 { S1(%i) }
    after:  affine.for %i = 0 to 100 { S0(%i)  S1(%i) }

    The bodies run together for equal values. Where the ranges differ, the loop is cut or a body has a condition.
    What lay between the loops comes after the new one where that is legal, else before it.

    What lies between them stays behind the new loop where that is legal, else before it.
    """
    one, other = sorted((program.find(first), program.find(second)))
    if one == other:
        raise PrimitiveError(f"'{first}' and '{second}' are one loop", "name two loops")
    parent = at(program.tree, one[:-1])
    if one[:-1] != other[:-1] or not isinstance(parent, SequenceNode):
        raise PrimitiveError(f"loops '{first}' and '{second}' do not lie in one block", "fuse the loops around them first")
    merged = _merged(loop_at(program, one), loop_at(program, other), program.fresh_name(program.base_name(one)))
    items, place, taken = list(parent.items), one[-1], other[-1]
    between = items[place + 1 : taken]
    orders = [[merged, *between], [*between, merged]] if between else [[merged]]
    trees = [put(program.tree, one[:-1], block([*items[:place], *order, *items[taken + 1 :]])) for order in orders]
    try:
        return program.changed(trees[0]), (merged.name,)
    except PrimitiveError:
        if len(trees) == 1:
            raise
    return program.changed(trees[1]), (merged.name,)


def _merged(one: LoopNode, other: LoopNode, name: str) -> LoopNode:
    body = block([one.body, other.body])
    values, kept = one.values.union_add(other.values), one.name or other.name or name
    return replace(one, domain=body.domain, values=values, body=body, name=kept, is_separated=True)
