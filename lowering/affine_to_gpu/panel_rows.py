"""How long the rows of a panel in shared memory are, so that the lanes of a warp find what they read in different banks."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl
import numpy as np

from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, CopyStatement
from dlc.lowering.affine.schedule.iterations import value_map
from dlc.lowering.affine.schedule.loop_tree import Leaf, Tree, loops_above, statement_names, walk
from dlc.lowering.affine_to_gpu.warp_accesses import bank_ways
from dlc.targets.machine import GpuMachine


def row_length(scop: Scop, tree: Tree, panel: Buffer, lanes: str, facts: GpuMachine) -> int:
    """Elements of a row, some of which may stay unused: the shortest one of those that let a warp, whose lanes go along the loop
    called `lanes`, read with the fewest passes."""
    reads = [elements for elements in _reads(scop, tree, panel, lanes, facts) if len(elements)]
    length, size = panel.shape[-1], panel.element_bytes

    def ways(row: int) -> int:
        shape = (*panel.shape[:-1], row)
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return max((bank_ways(elements @ strides * size, size, facts) for elements in reads), default=1)

    words = max(1, facts.bank_bytes // size)
    return min(range(length, length + words * facts.shared_banks), key=lambda row: (ways(row), row))


def _reads(scop: Scop, tree: Tree, panel: Buffer, lanes: str, facts: GpuMachine) -> Iterator[np.ndarray]:
    """The subscripts of what the first warp reads of the panel at a time, by lane."""
    for path, leaf in walk(tree):
        if not isinstance(leaf, Leaf):
            continue
        (name,) = statement_names(leaf)
        statement = scop.by_name[name]
        if isinstance(statement, CopyStatement):
            continue
        loops = loops_above(tree, path)
        others = value_map([loop for loop in loops if loop.name != lanes], leaf.domain)
        first = isl.Map.from_union_map(others).range().project_out_all_params().lexmin()
        instances = isl.UnionSet.from_set(first).apply(others.reverse())
        lane = value_map([loop for loop in loops if loop.name == lanes], instances)
        for access in [one for one in statement.accesses if one.array is panel]:
            yield _by_lane(access, lane, facts)


def _by_lane(access: MemRefAccess, lane: isl.UnionMap, facts: GpuMachine) -> np.ndarray:
    touched = lane.reverse().apply_range(isl.UnionMap.from_map(access.relation))
    found: dict[int, list[int]] = {}

    def note(point: isl.Point) -> None:
        number, *subscripts = (
            int(str(point.get_coordinate_val(isl.dim_type.set, at))) for at in range(1 + access.relation.dim(isl.dim_type.out))
        )
        found.setdefault(number, subscripts)

    isl.Map.from_union_map(touched).project_out_all_params().wrap().flatten().foreach_point(note)
    return np.array([found[number] for number in sorted(found) if number < facts.warp_threads])
