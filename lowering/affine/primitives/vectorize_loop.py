"""Vectorisation: neighbouring iterations as lanes of vectors."""

from __future__ import annotations

from typing import Annotated

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT
from dlc.lowering.affine.polyhedral.grouping import is_free
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.polyhedral.packed_buffers import CopyStatement
from dlc.lowering.affine.primitives.common import cut, replace_by_blocks, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import around, on_leaves, restrict, statement_names
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def vectorize(
    program: Program,
    loop: Annotated[str, "the loop"] = "",
    width: Annotated[int, "lanes of a vector"] = 8,
) -> Result:
    """Run iterations of a loop as lanes of vectors, in the innermost loops within it.

    before: affine.for %i = 0 to 100 { %x = affine.load %A[%i]  %y = arith.negf %x  affine.store %y, %B[%i] }
    after (width=8): affine.for %i = 0 to 96 step 8 {
              %x = affine.vector_load %A[%i]  %y = arith.negf %x : vector<8xf32>  affine.vector_store %y, %B[%i] }
            affine.for %i = 96 to 100 { .. }

    Neighbouring elements are loaded and stored as vectors, the same one for all lanes is broadcast, others go one by one.

    Legal when no dependence lies between iterations of one vector. Neighbouring elements of memory are loaded and stored as
    vectors, one element for all lanes is broadcast, others are loaded and stored one by one.
    """
    require_positive("width", width, 2)
    path = program.find(loop)
    for name in statement_names(program.loop(loop)):
        _require_lanes(program.scop.by_name[name])
    parts = cut(program, path, width, jammed=True)
    body = restrict(parts.loop.body, parts.whole)
    inside = None if body is None else on_leaves(body, lambda leaf: around(parts.places, leaf, "", "lanes"))
    return replace_by_blocks(program, path, parts, inside)


def _require_lanes(statement: Statement) -> None:
    """PrimitiveError at the first op that has no form on vectors."""
    if isinstance(statement, CopyStatement):
        raise PrimitiveError(f"{statement.name} copies to or from a buffer", "vectorize the loops that compute", statement.location)
    for op in statement.ops:
        is_access = op.name in SUBSCRIPTS_AT
        has_vectors = any(isinstance(value.type, ir.VectorType) for value in (*op.operands, *op.results))
        if has_vectors or not (is_access or is_free(op) or op.name.startswith(("arith.", "math."))):
            raise PrimitiveError(f"'{op.name}' has no form on vectors", "name a loop without it", op.location)
