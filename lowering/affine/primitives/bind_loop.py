"""Loops of a GPU's kernel: blocks of a grid and threads of a block."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import loops_above, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result

UNITS = ("block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z")
"""What the iterations of a loop may become, as `lowering/affine_to_gpu/grid.py` names it."""


@primitive
def bind(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    unit: Annotated[str, "block.x, block.y, block.z, thread.x, thread.y or thread.z"] = "",
) -> Result:
    """Make the iterations of a loop the blocks of a grid, or the threads of a block, of a GPU's kernel.

    before: affine.for %i = 0 to 100 { S(%i) }
    after (unit=block.x): affine.for %i = 0 to 100 { S(%i) } {dlc.name = "kernel0.block.x", dlc.parallel}

    Loops over threads lie inside of those over blocks. `affine-map-to-gpu` keeps what is bound, and maps other nests itself; for
    other machines these are parallel loops.

    Legal when no dependence lies between two iterations.
    """
    if unit not in UNITS:
        raise PrimitiveError(f"a loop cannot be bound to '{unit}'", f"use one of {', '.join(UNITS)}")
    path = program.find(loop)
    old, around = loop_at(program, path), [_unit_of(each.name) for each in loops_above(program.tree, path)]
    if unit in around:
        raise PrimitiveError(f"a loop around '{loop}' is bound to {unit} already", "use another dim")
    if unit.startswith("block") and any(each.startswith("thread") for each in around):
        raise PrimitiveError(f"loop '{loop}' lies inside of a loop over threads", "bind blocks to loops around those of threads")
    name = program.fresh_name(f"kernel{path[0] if len(path) else 0}.{unit}")
    return program.changed(put(program.tree, path, replace(old, kind="parallel", name=name))), (name,)


def _unit_of(name: str) -> str:
    """What a loop of that name is bound to; "" for others."""
    return next((unit for unit in UNITS if f".{unit}" in name), "")
