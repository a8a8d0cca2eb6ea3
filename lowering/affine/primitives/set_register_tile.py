"""Register tiles: what a code generator makes of a nest, given by its user instead of the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from dlc.lowering.affine.ir.tile import CODE_GENERATORS, Tile
from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import Path, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def tile_registers(
    program: Program,
    loop: Annotated[str, "the outermost loop of the nest"] = "",
    lane_loop: Annotated[str, "the loop whose iterations are the lanes of vectors; the nest's outermost one by default"] = "",
    lanes: Annotated[int, "elements of a vector"] = 1,
    vectors: Annotated[int, "vectors of a step of the lane loop"] = 1,
    unroll_and_jam: Annotated[tuple[str, ...], "other parallel loops that are unrolled into the tile"] = (),
    factors: Annotated[tuple[int, ...], "how many copies of each of these"] = (),
    order: Annotated[tuple[str, ...], "the parallel loops from the outside in; empty for the order of the text"] = (),
    unroll: Annotated[int, "steps of the innermost reduction loop in its body"] = 1,
    prefetch: Annotated[int, "the level of cache that the next panels are fetched into; 0 for none"] = 0,
    fetch_rows: Annotated[int, "the same for the next rows that all lanes share"] = 0,
    blocks: Annotated[tuple[str, ...], "loops that run block by block, from the outside in"] = (),
    block_sizes: Annotated[tuple[int, ...], "iterations of each block"] = (),
    pack: Annotated[int, "1: copy what the vectors of a block read in front of it"] = 0,
    code_generator: Annotated[str, "what makes the code: tile, windows, rows, transpose or generic"] = "tile",
) -> Result:
    """Have a code generator make vectors and register tiles of a nest, with these choices.

    before: affine.for %i { affine.for %j { C[%i, %j] = sum of A[%i, %k] * B[%k, %j] } }
    after (loop=i lane_loop=j lanes=8 vectors=2 unroll_and_jam=i factors=4): affine.for %i { .. } {dlc.schedule =
            {code_generator = "tile", lane_loop = 1, lanes = 8, unroll_and_jam = [array<i64: 0, 4>], vectors = 2}}

    Always legal: a code generator refuses a nest that it has no code for.
    """
    if code_generator not in CODE_GENERATORS:
        raise PrimitiveError(f"no code generator is called '{code_generator}'", f"use one of {', '.join(CODE_GENERATORS)}")
    path = program.find(loop)
    tile = Tile(
        code_generator,
        lane_loop=_position(program, path, lane_loop or loop),
        lanes=lanes,
        vectors=vectors,
        unroll_and_jam=_pairs(program, path, unroll_and_jam, factors, "factors"),
        order=tuple(_position(program, path, name) for name in order),
        unroll=unroll,
        prefetch=prefetch,
        fetch_rows=fetch_rows,
        blocks=_pairs(program, path, blocks, block_sizes, "block_sizes"),
        pack=pack,
    )
    old = loop_at(program, path)
    name = old.name or program.fresh_name(program.base_name(path))
    tree = put(program.tree, path, replace(old, name=name))
    return replace(program, tree=tree, tiles={**program.tiles, name: tile}), (name,)


def _pairs(program: Program, top: Path, names: Sequence[str], sizes: Sequence[int], what: str) -> tuple[tuple[int, int], ...]:
    """(loop, number) of each of the loops `names`."""
    if len(names) != len(sizes):
        raise PrimitiveError(f"there are {len(names)} loops and {len(sizes)} {what}", "give one a loop")
    return tuple((_position(program, top, name), size) for name, size in zip(names, sizes, strict=True))


def _position(program: Program, top: Path, name: str) -> int:
    """How many loops of the nest at `top` are around the loop called `name`."""
    path = program.find(name)
    if path[: len(top)] != top:
        raise PrimitiveError(f"loop '{name}' does not lie in the nest", "name loops of the nest, or its outermost loop first")
    return program.depth(path) - program.depth(top)
