"""Skewing: iterations of an inner loop move with those of an outer one."""

from __future__ import annotations

from typing import Annotated

import islpy as isl

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import around, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def skew(
    program: Program,
    inner: Annotated[str, "the loop that moves"] = "",
    outer: Annotated[str, "a loop around it"] = "",
    factor: Annotated[int, "how far it moves with each value of the outer loop"] = 1,
) -> Result:
    """Let the values of an inner loop move with those of an outer one.

    before: affine.for %t = 0 to 10 { affine.for %i = 1 to 99 { S(%t, %i) } }
    after:  affine.for %t = 0 to 10 { affine.for %i = %t + 1 to %t + 99 { S(%t, %i - %t) } }

    The order stays what it was; dependences that went back in the inner loop no longer do, so that tiling becomes legal.

    Always legal; it makes tiling legal.
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
