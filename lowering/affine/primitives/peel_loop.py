"""Peeling: the first or last iterations of a loop on their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import islpy as isl

from dlc.lowering.affine.primitives.common import loop_at, named_copy, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import first_values, last_values, stride_of
from dlc.lowering.affine.schedule.loop_tree import LoopNode, block, put, restrict
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def peel(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    count: Annotated[int, "iterations that are taken out"] = 1,
    last: Annotated[bool, "take them from the end"] = False,
) -> Result:
    """Take the first or last iterations of a loop out of it.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  S(0)   affine.for %i = 1 to 100 { S(%i) }

    The loop of what is peeled is called `<name>.first` or `<name>.last`.

    Always legal. Returns both loops in their order.
    """
    require_positive("count", count)
    path = program.find(loop)
    old = loop_at(program, path)
    reach = count * (stride_of(old) or 1)
    if last:
        distance = last_values(program.tree, path, path).sub(old.values)
    else:
        distance = old.values.sub(first_values(program.tree, path, path))
    near = isl.UnionSet(f"{{ [distance] : 0 <= distance < {reach} }}")
    peeled = isl.UnionMap.from_union_pw_aff(distance).intersect_range(near).domain()
    return cut_in_two(program, path, old.domain.subtract(peeled) if last else peeled, ("", "last") if last else ("first", ""))


def cut_in_two(program: Program, path: tuple[int, ...], first: isl.UnionSet, suffixes: tuple[str, str]) -> Result:
    """Two loops in place of one: for the instances `first`, then for the others; `suffixes` are added to its name."""
    old, base = loop_at(program, path), program.base_name(path)
    parts = restrict(old, first), restrict(old, old.domain.subtract(first))
    if parts[0] is None or parts[1] is None:
        raise PrimitiveError(f"all iterations of loop '{old.name or base}' lie on one side", "cut it elsewhere")
    named: list[LoopNode] = []
    for part, suffix in zip(parts, suffixes, strict=True):
        assert isinstance(part, LoopNode)
        kept = replace(part, name=old.name or program.fresh_name(base))
        named.append(named_copy(program, path, part, suffix) if suffix else kept)
    return program.changed(put(program.tree, path, block(named))), tuple(part.name for part in named)
