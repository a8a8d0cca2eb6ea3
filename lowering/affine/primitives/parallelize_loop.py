"""Parallel loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import put
from dlc.lowering.affine.schedule.program import Program, Result


@primitive
def parallelize(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
) -> Result:
    """Turn a loop whose iterations do not depend on each other into an affine.parallel.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.parallel (%i) = (0) to (100) { S(%i) }

    Legal when no dependence lies between two of them.
    """
    path = program.find(loop)
    old = loop_at(program, path)
    name = old.name or program.fresh_name(program.base_name(path))
    return program.changed(put(program.tree, path, replace(old, kind="unordered", name=name))), (name,)
