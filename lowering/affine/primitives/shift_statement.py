"""Shifting (retiming): a statement runs some iterations later or earlier than the rest of a loop's body."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import on_instances
from dlc.lowering.affine.schedule.loop_tree import put, sets_of, statement_names
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def shift(
    program: Program,
    statement: Annotated[str, "the statement"] = "",
    loop: Annotated[str, "a loop around it"] = "",
    distance: Annotated[int, "iterations that it moves"] = 1,
) -> Result:
    """Run a statement some iterations later, or earlier, than the rest of a loop's body.

    before: affine.for %i = 0 to 100 { S0(%i)  S1(%i) }
    after (S1 by 1): S0(0)   affine.for %i = 1 to 100 { S0(%i)  S1(%i - 1) }   S1(99)
    """
    path = program.find(loop)
    old = loop_at(program, path)
    if statement not in statement_names(old):
        raise PrimitiveError(f"loop '{loop}' has no statement '{statement}'", f"use one of {', '.join(statement_names(old))}")
    moved = old.domain.subtract(old.domain)
    for found in sets_of(old.domain):
        if found.get_tuple_name() == statement:
            moved = moved.union(found)
    later = old.values.intersect_domain(moved).add(on_instances(moved, distance))
    values = old.values.subtract_domain(moved).union_add(later)
    name = old.name or program.fresh_name(program.base_name(path))
    return program.changed(put(program.tree, path, replace(old, values=values, name=name, is_separated=True))), (name,)
