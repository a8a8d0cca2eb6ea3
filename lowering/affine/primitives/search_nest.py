"""Nests that go back to the search."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import put
from dlc.lowering.affine.schedule.program import Program, Result


@primitive
def search(
    program: Program,
    loop: Annotated[str, "the outermost loop of the nest"] = "",
) -> Result:
    """Let the search choose how a nest becomes code, though steps have changed its loops.

    before: affine.for %i { .. } in a kernel whose loops have been distributed
    after:  affine.for %i { .. } {dlc.search}

    Always legal.
    """
    path = program.find(loop)
    old = loop_at(program, path)
    name = old.name or program.fresh_name(program.base_name(path))
    tree = put(program.tree, path, replace(old, name=name))
    return replace(program, tree=tree, tiles={**program.tiles, name: None}), (name,)
