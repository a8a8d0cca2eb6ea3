"""Strip-mining: a loop in steps around a loop inside a step."""

from __future__ import annotations

from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import numbered
from dlc.lowering.affine.schedule.loop_tree import around, put
from dlc.lowering.affine.schedule.program import Program, Result


@primitive
def strip_mine(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    size: Annotated[int, "iterations of a strip"] = 0,
) -> Result:
    """Run a loop in strips: a loop in steps around a loop with the values of before.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.for %is = 0 to 100 step 32 { affine.for %i = %is to min(100, %is + 32) { S(%i) } }

    The outer loop is called `<name>.strip`.

    Always legal.
    """
    require_positive("size", size)
    path = program.find(loop)
    old, base = loop_at(program, path), program.base_name(path)
    names = program.fresh_name(f"{base}.strip"), old.name or program.fresh_name(base)
    inner = around(old.values, old.body, names[1], old.kind)
    start = numbered(program.tree, path).start_of_block(size)
    return program.changed(put(program.tree, path, around(start, inner, names[0], old.kind))), names
