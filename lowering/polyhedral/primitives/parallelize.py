"""Parallel loops."""

from __future__ import annotations

from dataclasses import replace

from dlc.lowering.polyhedral.loop_tree import put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import Program


def parallelize(program: Program, loop: str) -> Result:
    """Say that the iterations of a loop have no order. Legal when no dependence lies between two of them.

    affine.for i { S(i) }  ->  affine.parallel i { S(i) }
    """
    path = program.find(loop)
    old = loop_at(program, path)
    name = old.name or program.fresh_name(program.base_name(path))
    return program.changed(put(program.tree, path, replace(old, kind="unordered", name=name))), (name,)
