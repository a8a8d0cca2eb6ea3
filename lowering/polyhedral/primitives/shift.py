"""Shifting (retiming): a statement runs some iterations later or earlier than the rest of a loop's body."""

from __future__ import annotations

from dataclasses import replace

from dlc.lowering.polyhedral.iterations import on_instances
from dlc.lowering.polyhedral.loop_tree import put, sets_of, statement_names
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def shift(program: Program, statement: str, loop: str, distance: int) -> Result:
    """Add `distance` to the value of `loop` at which `statement` runs.

    for i in 0..n { S0(i) S1(i) }, S1 by 1  ->  for i in 0..n + 1 { S0(i) if i < n; S1(i - 1) if i > 0 }
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
