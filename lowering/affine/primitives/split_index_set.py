"""Index-set splitting: a loop cut at a value."""

from __future__ import annotations

from typing import Annotated

import islpy as isl

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.peel_loop import cut_in_two
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import value_map
from dlc.lowering.affine.schedule.loop_tree import loops_above
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def split_index_set(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    at: Annotated[
        str, "first value of the second loop: an affine expression of sizes p0, p1, ... and of loops around (names, or d0, d1, ...)"
    ] = "0",
) -> Result:
    """Cut a loop in two at a value of its variable.

    before: affine.for %i = 0 to 100 { S(%i) }
    after (at=64): affine.for %i = 0 to 64 { S(%i) }   affine.for %i = 64 to 100 { S(%i) }

    The new loops are called `<name>.below` and `<name>.above`.

    Always legal.

    `at` is an affine expression over sizes (`p0, p1, ...`) and the loops around (by their names, or `d0, d1, ...` from the
    outside in): `64`, `p0 - 1`, `floor(d0/2)`.
    """
    path = program.find(loop)
    old, above = loop_at(program, path), loops_above(program.tree, path)
    dims = [other.name if other.name.isidentifier() else f"d{depth}" for depth, other in enumerate(above)]
    where = value_map([*above, old], old.domain)
    parameters = f"[{', '.join(program.scop.parameters)}] -> "
    try:
        smaller = isl.UnionSet(f"{parameters}{{ [{', '.join([*dims, '_value'])}] : _value < {at} }}")
    except isl.Error:
        known = ", ".join([*program.scop.parameters, *dims]) or "numbers alone"
        raise PrimitiveError(f"'{at}' is no affine expression of {known}", "write for example 64 or p0 - 1") from None
    return cut_in_two(program, path, where.intersect_range(smaller).domain(), ("below", "above"))
