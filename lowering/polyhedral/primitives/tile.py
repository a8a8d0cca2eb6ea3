"""Tiling: the loops of a nest run block by block."""

from __future__ import annotations

from collections.abc import Sequence

from dlc.lowering.polyhedral.iterations import numbered
from dlc.lowering.polyhedral.loop_tree import Tree, around, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at, nest_of, require_positive
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def tile(program: Program, loops: Sequence[str], sizes: Sequence[int]) -> Result:
    """Cut the loops of a perfect nest into blocks of `sizes` iterations; returns the loops over blocks, then those inside.

    for i { for j { S } }  ->  for i.tile (step 32) { for j.tile (step 32) { for i (in the tile) { for j { S } } } }
    """
    if not loops or len(loops) != len(sizes):
        raise PrimitiveError(f"there are {len(loops)} loops and {len(sizes)} sizes", "give one size a loop")
    for size in sizes:
        require_positive("a tile size", size)
    paths = nest_of(program, loops)
    nest = [loop_at(program, path) for path in paths]
    outer = [program.fresh_name(f"{program.base_name(path)}.tile") for path in paths]
    inner = [loop.name or program.fresh_name(program.base_name(path)) for loop, path in zip(nest, paths, strict=True)]
    starts = [numbered(program.tree, path, paths[0]).start_of_block(size) for path, size in zip(paths, sizes, strict=True)]
    tree: Tree = nest[-1].body
    for loop, name in reversed(list(zip(nest, inner, strict=True))):
        tree = around(loop.values, tree, name, loop.kind)
    for loop, start, name in reversed(list(zip(nest, starts, outer, strict=True))):
        tree = around(start, tree, name, loop.kind)
    return program.changed(put(program.tree, paths[0], tree)), (*outer, *inner)
