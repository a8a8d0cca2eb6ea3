"""Fusion: two loops after each other become one."""

from __future__ import annotations

from dataclasses import replace

from dlc.lowering.polyhedral.loop_tree import Block, Loop, at, block, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def fuse(program: Program, first: str, second: str) -> Result:
    """Run the bodies of two loops of one block together, for equal values of their variables.

    What lies between them stays behind the new loop where that is legal, else before it.

    for i { S0(i) }  for i' { S1(i') }  ->  for i { S0(i) S1(i) }
    """
    one, other = sorted((program.find(first), program.find(second)))
    if one == other:
        raise PrimitiveError(f"'{first}' and '{second}' are one loop", "name two loops")
    parent = at(program.tree, one[:-1])
    if one[:-1] != other[:-1] or not isinstance(parent, Block):
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


def _merged(one: Loop, other: Loop, name: str) -> Loop:
    body = block([one.body, other.body])
    values, kept = one.values.union_add(other.values), one.name or other.name or name
    return replace(one, domain=body.domain, values=values, body=body, name=kept, is_separated=True)
