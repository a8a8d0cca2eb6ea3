"""Splitting a loop into two that count from 0."""

from __future__ import annotations

import islpy as isl

from dlc.lowering.polyhedral.iterations import numbered
from dlc.lowering.polyhedral.loop_tree import around, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at, require_positive
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def split(program: Program, loop: str, factor: int = 0, parts: int = 0) -> Result:
    """Make two loops of one: over blocks of `factor` iterations, or over `parts` blocks, and inside a block. Always legal.

    for i in 0..100 { S(i) }  ->  for i.outer in 0..4 { for i.inner in 0..32 { S(32 * i.outer + i.inner) } }
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
