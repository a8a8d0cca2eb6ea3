"""Panels of arrays in shared memory: what a block reads of an array in a tile of a sum, copied by all of its threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

import islpy as isl

from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, with_row_length
from dlc.lowering.affine.primitives.pack_buffer import pack_in_order
from dlc.lowering.affine.schedule.loop_tree import (
    LoopNode,
    Path,
    Scratch,
    Tree,
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
from dlc.lowering.affine_to_gpu.kernel_mapping import MappedKernel
from dlc.lowering.affine_to_gpu.panel_axes import PanelAxes, smallest_axes
from dlc.lowering.affine_to_gpu.panel_copies import CopyByThreads, joined_copies
from dlc.lowering.affine_to_gpu.panel_rows import row_length
from dlc.lowering.affine_to_gpu.thread_tiles import Reuse, nested
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine


def share_panels(scop: Scop, tree: Tree, kernels: Sequence[MappedKernel], facts: GpuMachine) -> tuple[Scop, Tree]:
    """The program whose kernels read what they reuse from panels, where these fit.

    An array that has no panel of constant size stays where it is. Raises PrimitiveError only where the result would not keep a
    dependence.
    """
    for kernel in kernels:
        left = facts.shared_bytes // policy().gpu.sharing_blocks
        for reuse in kernel.reuses:
            scop, tree, used = _share(scop, tree, kernel, reuse, left, facts)
            left -= used
    return scop, tree


def _share(scop: Scop, tree: Tree, kernel: MappedKernel, reuse: Reuse, limit: int, facts: GpuMachine) -> tuple[Scop, Tree, int]:
    """The program with panels of at most `limit` bytes in the tiles of one sum, and their size.

    The sum is packed on its own: no other statement runs in its tiles, and none writes what it reads there.
    """
    path = _path_of(tree, reuse.tile)
    alone = nested([*loops_above(tree, path), loop_in(tree, path)], reuse.compute)
    program = Program(scop, alone, dependences_of(scop, alone), {})
    lanes = name_of(kernel.name, GpuMapping("thread", 0))
    copies: dict[str, tuple[PanelAxes, Sequence[int]]] = {}
    used = 0
    for array in reuse.arrays:
        try:
            axes = smallest_axes(program, array, reuse.tile)
            packed, names = pack_in_order(program, array, reuse.tile, axes.order)
        except PrimitiveError:
            continue
        panel = _newest(packed.scop)
        length = row_length(packed.scop, packed.tree, panel, lanes, facts) if reuse.by_columns else panel.shape[-1]
        size = prod((*panel.shape[:-1], length, panel.element_bytes))
        if used + size <= limit:
            program, used = replace(packed, scop=with_row_length(packed.scop, panel, length)), used + size
            copies[names[0]] = axes, panel.shape
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


def _newest(scop: Scop) -> Buffer:
    buffer = scop.arrays[-1]
    assert isinstance(buffer, Buffer)
    return buffer


def _with_copies(packed: Tree, copies: Mapping[str, tuple[PanelAxes, Sequence[int]]], kernel: MappedKernel, compute: Tree) -> Tree:
    """The body of a tile: the panels and copies of `packed` around `compute`.

    Copies begin with the loops of the names `copies`, and are to panels of those axes and shapes.
    """
    panels = [node.array for _, node in walk(packed) if isinstance(node, Scratch)]
    starts = [node for _, node in walk(packed) if isinstance(node, LoopNode) and node.name in copies]
    parts = [CopyByThreads.of(start, *copies[start.name], kernel.name, kernel.threads) for start in starts]
    body = block([joined_copies(parts), compute])
    return reduce(lambda inner, panel: Scratch(inner.domain, panel, inner), panels, body)


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
