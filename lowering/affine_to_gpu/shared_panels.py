"""Panels of arrays in shared memory: what a block reads of an array in a tile of a sum, copied by all of its threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import prod

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_values import place_in_tile, tile_number
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer
from dlc.lowering.affine.primitives.pack_buffer import pack
from dlc.lowering.affine.schedule.loop_tree import (
    LoopNode,
    Path,
    Scratch,
    Tree,
    around,
    block,
    children,
    loop_in,
    loops_above,
    put,
    walk,
    with_children,
)
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, dependences_of
from dlc.lowering.affine_to_gpu.grid import GpuMapping, name_of
from dlc.lowering.affine_to_gpu.kernel_mapping import Kernel
from dlc.lowering.affine_to_gpu.thread_tiles import Reuse, nested
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine


def share_panels(scop: Scop, tree: Tree, kernels: Sequence[Kernel], facts: GpuMachine) -> tuple[Scop, Tree]:
    """The program whose kernels read what they reuse from panels, where these fit.

    An array that has no panel of constant size stays where it is. Raises PrimitiveError only where the result would not keep a
    dependence.
    """
    for kernel in kernels:
        left = facts.shared_bytes // policy().gpu.sharing_blocks
        for reuse in kernel.reuses:
            scop, tree, used = _share(scop, tree, kernel, reuse, left)
            left -= used
    return scop, tree


def _share(scop: Scop, tree: Tree, kernel: Kernel, reuse: Reuse, limit: int) -> tuple[Scop, Tree, int]:
    """The program with panels of at most `limit` bytes in the tiles of one sum, and their size.

    The sum is packed on its own: no other statement runs in its tiles, and none writes what it reads there.
    """
    path = _path_of(tree, reuse.tile)
    alone = nested([*loops_above(tree, path), loop_in(tree, path)], reuse.compute)
    program = Program(scop, alone, dependences_of(scop, alone), {})
    copies, used = [], 0
    for array in reuse.arrays:
        try:
            packed, names = pack(program, array, reuse.tile)
        except PrimitiveError:
            continue
        size = _bytes(packed.scop)
        if used + size <= limit:
            program, used = packed, used + size
            copies.append(names[0])
    if not copies:
        return scop, tree, 0
    inside = _path_of(program.tree, reuse.tile)
    body = _with_copies(loop_in(program.tree, inside).body, copies, kernel, loop_in(tree, path).body)
    program.changed(put(program.tree, (*inside, 0), body))
    loops = [*loops_above(program.tree, inside), loop_in(program.tree, inside)]
    return program.scop, _grafted(tree, path, loops, body), used


def _path_of(tree: Tree, name: str) -> Path:
    """The path of the only loop called `name`."""
    return next(path for path, node in walk(tree) if isinstance(node, LoopNode) and node.name == name)


def _bytes(scop: Scop) -> int:
    """The size of the newest buffer."""
    buffer = scop.arrays[-1]
    assert isinstance(buffer, Buffer)
    return prod(buffer.shape) * -(-int(getattr(buffer.element_type, "width", 64)) // 8)


def _with_copies(packed: Tree, copies: Sequence[str], kernel: Kernel, compute: Tree) -> Tree:
    """The body of a tile: the panels and copies of `packed`, which begin with the loops called `copies`, around `compute`."""
    panels = [node.array for _, node in walk(packed) if isinstance(node, Scratch)]
    starts = [node for _, node in walk(packed) if isinstance(node, LoopNode) and node.name in copies]
    body = block([_joined([_copy(start, kernel) for start in starts]), compute])
    return reduce(lambda inner, panel: Scratch(inner.domain, panel, inner), panels, body)


def _copy(start: LoopNode, kernel: Kernel) -> tuple[LoopNode, LoopNode, Tree]:
    """The loops over threads, y and x, and what each thread copies: columns along x and rows along y, so that warps read lines."""
    chain: list[LoopNode] = []
    node: Tree = start
    while isinstance(node, LoopNode):
        chain.append(node)
        node = node.body
    columns = chain[-1].values
    rows = chain[-2].values if len(chain) > 1 else columns.sub(columns)
    width, height = kernel.threads[0], kernel.threads[1]
    last = [replace(start, values=tile_number(values, size), name="") for values, size in ((rows, height), (columns, width))]
    mine = nested([*(replace(loop, name="") for loop in chain[:-2]), *last], node)
    across = around(place_in_tile(columns, width), mine, name_of(kernel.name, GpuMapping("thread", 0)), "parallel")
    return around(place_in_tile(rows, height), across, name_of(kernel.name, GpuMapping("thread", 1)), "parallel"), across, mine


def _joined(parts: Sequence[tuple[LoopNode, LoopNode, Tree]]) -> Tree:
    """Copies under the same loops over threads: one phase of the block."""
    inner = block([mine for _, _, mine in parts])
    for loops in ([across for _, across, _ in parts], [down for down, _, _ in parts]):
        values = reduce(lambda one, other: one.union_add(other), [loop.values for loop in loops])
        inner = LoopNode(inner.domain, values, inner, loops[0].name, "parallel")
    return inner


def _grafted(tree: Tree, path: Path, loops: Sequence[LoopNode], body: Tree) -> Tree:
    """The tree with `body` in the loop at `path`, around which `loops` say where the copies run."""
    if not isinstance(tree, LoopNode):
        parts = list(children(tree))
        parts[path[0]] = _grafted(parts[path[0]], path[1:], loops, body)
        return with_children(tree, parts)
    inner = _grafted(tree.body, path[1:], loops[1:], body) if path else body
    return replace(tree, domain=inner.domain, values=_extended(tree.values, loops[0], inner.domain), body=inner)


def _extended(values: isl.UnionPwAff, loop: LoopNode, domain: isl.UnionSet) -> isl.UnionPwAff:
    """`values`, and for instances that it has none for those of `loop`."""
    return values.union_add(loop.values.intersect_domain(domain.subtract(values.domain())))
