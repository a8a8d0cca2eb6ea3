"""Distribution (fission): a loop for each item of a loop's body."""

from __future__ import annotations

from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import SequenceNode, Tree, around, block, put, statement_names
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def distribute(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    before: Annotated[tuple[str, ...], "statements that begin a new loop; every item of the body where none are named"] = (),
) -> Result:
    """Make a loop of its own for each item of a loop's body (loop fission).

    before: affine.for %i = 0 to 100 { S0(%i)  S1(%i) }
    after:  affine.for %i = 0 to 100 { S0(%i) }   affine.for %i = 0 to 100 { S1(%i) }

    The new loops are called `<name>.0`, `<name>.1`, and so on.
    """
    path = program.find(loop)
    old = loop_at(program, path)
    if not isinstance(old.body, SequenceNode):
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
