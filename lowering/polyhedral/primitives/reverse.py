"""Reversal: a loop runs from its last iteration to its first."""

from __future__ import annotations

from dlc.lowering.polyhedral.iterations import first_values, is_simple, last_values
from dlc.lowering.polyhedral.loop_tree import around, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import Program


def reverse(program: Program, loop: str) -> Result:
    """Run the iterations of a loop in the opposite order, over the same range of values where that is one expression.

    for i in 0..100 { S(i) }  ->  for i in 0..100 { S(99 - i) }
    """
    path = program.find(loop)
    old = loop_at(program, path)
    name = old.name or program.fresh_name(program.base_name(path))
    ends = [values(program.tree, path, path) for values in (first_values, last_values)]
    values = old.values.neg()
    if all(is_simple(end) for end in ends):
        values = values.add(ends[0]).add(ends[1])
    return program.changed(put(program.tree, path, around(values, old.body, name, old.kind))), (name,)
