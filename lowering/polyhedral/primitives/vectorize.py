"""Vectorisation: neighbouring iterations as lanes of vectors."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.polyhedral.grouping import is_free
from dlc.analysis.polyhedral.model import Statement
from dlc.lowering.polyhedral.buffers import CopyStatement
from dlc.lowering.polyhedral.loop_tree import around, on_leaves, restrict, statement_names
from dlc.lowering.polyhedral.primitives.common import Result, cut, replace_by_blocks, require_positive
from dlc.lowering.polyhedral.program import PrimitiveError, Program
from dlc.lowering.polyhedral.statement_copy import SUBSCRIPTS_AT


def vectorize(program: Program, loop: str, width: int) -> Result:
    """Run `width` iterations of `loop` as lanes of vectors, in the innermost loops; iterations that fill no vector stay scalar.

    Legal when no dependence lies between iterations of one vector. Neighbouring elements of memory are loaded and stored as
    vectors, one element for all lanes is broadcast, others are loaded and stored one by one.

    for i in 0..100 { S(i) }, 8  ->  for i in 0..96 step 8 { S(i..i + 8) }  for i.rest in 96..100 { S(i) }
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
