"""Index-set splitting: a loop cut at a value."""

from __future__ import annotations

import islpy as isl

from dlc.lowering.polyhedral.iterations import value_map
from dlc.lowering.polyhedral.loop_tree import loops_above
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.primitives.peel import cut_in_two
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def split_index_set(program: Program, loop: str, at: str) -> Result:
    """Run the iterations below the value `at` first, then the others, as two loops. Always legal.

    `at` is an affine expression over sizes (`p0, p1, ...`) and the loops around (by their names, or `d0, d1, ...` from the
    outside in): `64`, `p0 - 1`, `floor(d0/2)`.

    for i in 0..100 { S(i) }, at 64  ->  for i.below in 0..64 { S(i) }  for i.above in 64..100 { S(i) }
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
