"""Strip-mining: a loop in steps around a loop inside a step."""

from __future__ import annotations

from dlc.lowering.polyhedral.iterations import numbered
from dlc.lowering.polyhedral.loop_tree import around, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at, require_positive
from dlc.lowering.polyhedral.program import Program


def strip_mine(program: Program, loop: str, size: int) -> Result:
    """Run a loop in strips of `size` iterations; the loop inside keeps name and values. Always legal.

    for i in 0..100 { S(i) }  ->  for i.strip in 0..100 step 32 { for i in i.strip..min(i.strip + 32, 100) { S(i) } }
    """
    require_positive("size", size)
    path = program.find(loop)
    old, base = loop_at(program, path), program.base_name(path)
    names = program.fresh_name(f"{base}.strip"), old.name or program.fresh_name(base)
    inner = around(old.values, old.body, names[1], old.kind)
    start = numbered(program.tree, path).start_of_block(size)
    return program.changed(put(program.tree, path, around(start, inner, names[0], old.kind))), names
