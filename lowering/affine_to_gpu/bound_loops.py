"""Loops that a user has bound to blocks and threads: they stay as they are, and what lies beside them is mapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from dlc.lowering.affine.dependences.coincidence import between_instances
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.loop_tree import LoopNode, SequenceNode, Tree, loop_in, put, walk
from dlc.lowering.affine.schedule.program import Program
from dlc.lowering.affine_to_gpu.grid import is_place
from dlc.lowering.affine_to_gpu.kernel_mapping import MappedKernel, MappedTree, map_to_gpu
from dlc.targets.machine import GpuMachine


def map_beside(scop: Scop, dependences: isl.UnionMap, facts: GpuMachine) -> list[MappedTree]:
    """The parts of the text in its order: those with bound loops as they are, the others mapped."""
    tree = Program.of(scop).tree
    items = tree.items if isinstance(tree, SequenceNode) else (tree,)
    return list(_mapped(scop, items, dependences, facts))


def _mapped(scop: Scop, items: Sequence[Tree], dependences: isl.UnionMap, facts: GpuMachine) -> Iterator[MappedTree]:
    first = len(items)
    for number, item in enumerate(items):
        bound = [path for path, node in walk(item) if isinstance(node, LoopNode) and is_place(node.name)]
        if bound:
            for path in bound:
                item = put(item, path, replace(loop_in(item, path), kind="parallel"))  # which the caller checks
            yield MappedTree(item, 0, (MappedKernel(f"kernel{number}", ()),))
            continue
        inside = between_instances(dependences, item.domain)
        found = map_to_gpu(scop, item, inside, facts, first)
        first += len(found.kernels)
        yield found
