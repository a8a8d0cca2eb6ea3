"""Vectorisation: neighbouring iterations as lanes of vectors."""

from __future__ import annotations

from dlc.lowering.polyhedral.loop_tree import around, on_leaves, restrict
from dlc.lowering.polyhedral.primitives.common import Result, cut, replace_by_blocks, require_positive
from dlc.lowering.polyhedral.program import Program


def vectorize(program: Program, loop: str, width: int) -> Result:
    """Run `width` iterations of `loop` as lanes of vectors, in the innermost loops; iterations that fill no vector stay scalar.

    Legal when no dependence lies between iterations of one vector. Neighbouring elements of memory are loaded and stored as
    vectors, one element for all lanes is broadcast, others are loaded and stored one by one.

    for i in 0..100 { S(i) }, 8  ->  for i in 0..96 step 8 { S(i..i + 8) }  for i.rest in 96..100 { S(i) }
    """
    require_positive("width", width, 2)
    path = program.find(loop)
    parts = cut(program, path, width, jammed=True)
    body = restrict(parts.loop.body, parts.whole)
    inside = None if body is None else on_leaves(body, lambda leaf: around(parts.places, leaf, "", "lanes"))
    return replace_by_blocks(program, path, parts, inside)
