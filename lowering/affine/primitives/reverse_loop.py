"""Reversal: a loop runs from its last iteration to its first."""

from __future__ import annotations

from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import first_values, is_simple, last_values
from dlc.lowering.affine.schedule.loop_tree import around, put
from dlc.lowering.affine.schedule.program import Program, Result


@primitive
def reverse(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
) -> Result:
    """Run a loop from its last iteration to its first.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.for %i = 0 to 100 { S(99 - %i) }
    """
    path = program.find(loop)
    old = loop_at(program, path)
    name = old.name or program.fresh_name(program.base_name(path))
    ends = [values(program.tree, path, path) for values in (first_values, last_values)]
    values = old.values.neg()
    if all(is_simple(end) for end in ends):
        values = values.add(ends[0]).add(ends[1])
    return program.changed(put(program.tree, path, around(values, old.body, name, old.kind))), (name,)
