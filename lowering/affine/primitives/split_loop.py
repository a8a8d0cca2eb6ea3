"""Splitting a loop into two that count from 0."""

from __future__ import annotations

from typing import Annotated

import islpy as isl

from dlc.lowering.affine.primitives.common import loop_at, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import numbered
from dlc.lowering.affine.schedule.loop_tree import around, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def split(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    factor: Annotated[int, "iterations of the inner loop"] = 0,
    parts: Annotated[int, "iterations of the outer loop, in place of `factor`"] = 0,
) -> Result:
    """Make two loops of one, both of which count from 0.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.for %io = 0 to 4 { affine.for %ii = 0 to min(32, 100 - 32 * %io) { S(32 * %io + %ii) } }

    The new loops are called `<name>.outer` and `<name>.inner`.

    Always legal.
    """
    if (factor > 0) == (parts > 0):
        raise PrimitiveError(f"factor is {factor} and parts is {parts}", "give one of them, 1 or more")
    path = program.find(loop)
    old, steps = loop_at(program, path), numbered(program.tree, path)
    if parts:
        factor = -(-_extent(steps.count, loop) // parts)
    require_positive("factor", factor)
    base = program.base_name(path)
    names = program.fresh_name(f"{base}.outer"), program.fresh_name(f"{base}.inner")
    inner = around(steps.place_in_block(factor), old.body, names[1], old.kind)
    return program.changed(put(program.tree, path, around(steps.block_of(factor), inner, names[0], old.kind))), names


def _extent(count: isl.UnionPwAff, loop: str) -> int:
    """The number of iterations of a loop, whose iterations have the numbers `count`."""
    numbers = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(count).range()).project_out_all_params()
    if not numbers.is_bounded():
        raise PrimitiveError(f"loop '{loop}' has no constant number of iterations", "give a factor")
    return int(str(numbers.dim_max_val(0))) + 1
