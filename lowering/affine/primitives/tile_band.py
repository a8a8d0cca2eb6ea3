"""Tiling: the loops of a nest run block by block."""

from __future__ import annotations

from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at, nest_of, require_positive
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.iterations import numbered
from dlc.lowering.affine.schedule.loop_tree import Tree, around, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def tile(
    program: Program,
    loops: Annotated[tuple[str, ...], "the loops, from the outside in"] = (),
    sizes: Annotated[tuple[int, ...], "iterations of each loop in a tile"] = (),
) -> Result:
    """Run a nest of loops tile by tile.

    before: affine.for %i = 0 to 100 { affine.for %j = 0 to 50 { .. } }
    after:  affine.for %it = 0 to 100 step 32 { affine.for %jt = 0 to 50 step 16 {
              affine.for %i = %it to min(100, %it + 32) { affine.for %j = %jt to min(50, %jt + 16) { .. } } } }

    The loops lie directly in each other. Tiles begin at the least value of a loop. The loops over tiles are called `<name>.tile`.
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
