"""Skewing: iterations of an inner loop move with those of an outer one."""

from __future__ import annotations

import islpy as isl

from dlc.lowering.polyhedral.loop_tree import around, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def skew(program: Program, inner: str, outer: str, factor: int = 1) -> Result:
    """Add `factor` times the variable of a loop further out to that of `inner`. Always legal; it makes tiling legal.

    for t { for i in 0..n { S(t, i) } }  ->  for t { for i in t..n + t { S(t, i - t) } }
    """
    path, above = program.find(inner), program.find(outer)
    if path[: len(above)] != above or path == above:
        raise PrimitiveError(f"loop '{inner}' does not lie inside loop '{outer}'", "name the inner loop first")
    if not factor:
        raise PrimitiveError("factor is 0", "give another number")
    old = loop_at(program, path)
    distance = loop_at(program, above).values.intersect_domain(old.domain).scale_val(isl.Val(factor))
    name = old.name or program.fresh_name(program.base_name(path))
    return program.changed(put(program.tree, path, around(old.values.add(distance), old.body, name, old.kind))), (name,)
