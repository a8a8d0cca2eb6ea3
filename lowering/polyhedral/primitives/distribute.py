"""Distribution (fission): a loop for each item of a loop's body."""

from __future__ import annotations

from collections.abc import Sequence

from dlc.lowering.polyhedral.loop_tree import Block, Tree, around, block, put, statement_names
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def distribute(program: Program, loop: str, before: Sequence[str] = ()) -> Result:
    """Make several loops of one: a new one starts at each item of its body, or only at those that hold statements of `before`.

    for i { S0(i) S1(i) }  ->  for i.0 { S0(i) }  for i.1 { S1(i) }
    """
    path = program.find(loop)
    old = loop_at(program, path)
    if not isinstance(old.body, Block):
        raise PrimitiveError(f"the body of loop '{loop}' is a single item", "there is nothing to distribute")
    groups: list[list[Tree]] = []
    for item in old.body.items:
        starts = not before or any(name in before for name in statement_names(item))
        if starts or not groups:
            groups.append([])
        groups[-1].append(item)
    missing = [name for name in before if name not in statement_names(old)]
    if missing or len(groups) < 2:
        known = ", ".join(statement_names(old))
        raise PrimitiveError(f"no new loop would start at {', '.join(before)}", f"name later statements of {known}")
    base = program.base_name(path)
    names = tuple(program.fresh_name(f"{base}.{number}") for number in range(len(groups)))
    parts = [around(old.values, block(group), name, old.kind) for group, name in zip(groups, names, strict=True)]
    return program.changed(put(program.tree, path, block(parts))), names
