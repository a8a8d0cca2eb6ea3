"""Which loops of a schedule tree become blocks and threads.

From the outside in: the loops of a nest along which no dependence goes that the loops around leave open may all run first, in any
order, so up to three of them become a kernel's blocks and threads, and the others run in each thread. A nest without such a loop
stays on the host, and the search goes on inside its outermost loop: one launch for each of its iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dlc.lowering.affine.dependences.coincidence import between_instances, stays, within_iterations
from dlc.lowering.affine.polyhedral.loop_values import LoopValues, place_in_tile, tile_number
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.iterations import stride_of
from dlc.lowering.affine.schedule.loop_tree import LoopNode, SequenceNode, Tree, around, block, with_children
from dlc.lowering.affine_to_gpu.grid import UNITS, GpuMapping, block_shape, name_of
from dlc.lowering.affine_to_gpu.mapping_costs import kernel_cost, launch_cost, sectors_along
from dlc.lowering.affine_to_gpu.row_phases import RowPhases
from dlc.lowering.affine_to_gpu.sums_of_products import SumsOfProducts
from dlc.lowering.affine_to_gpu.thread_tiles import Reuse, ThreadTiles, nested, tile_shape
from dlc.lowering.affine_to_gpu.transposed_tiles import TransposedTiles
from dlc.lowering.affine_to_gpu.warp_strides import extent_of, vector_widths, warp_strides, with_neighbours
from dlc.targets.machine import GpuMachine

_MOST_DIMS = 3


@dataclass(frozen=True, eq=False)
class MappedKernel:
    """A kernel of a mapped tree: what the names of its loops begin with, and the threads of a block, x first.

    `reuses` says what it may read from shared memory.
    """

    name: str
    threads: tuple[int, ...]
    reuses: tuple[Reuse, ...] = ()


@dataclass(frozen=True, eq=False)
class MappedTree:
    """A tree whose loops are mapped, what it costs in cycles, and its kernels."""

    tree: Tree
    cycles: float
    kernels: tuple[MappedKernel, ...]


def map_to_gpu(scop: Scop, tree: Tree, dependences: isl.UnionMap, facts: GpuMachine, first: int = 0) -> MappedTree:
    """Map the loops of `tree`, which keeps `dependences`; kernels are numbered from `first`."""
    search = _Search(scop, facts, first)
    mapped = search.visit(tree, dependences, ())
    return MappedTree(mapped, search.cost, tuple(search.kernels))


class _Search:
    def __init__(self, scop: Scop, facts: GpuMachine, first: int) -> None:
        self.scop, self.facts, self.first = scop, facts, first
        self.cost = 0.0
        self.kernels: list[MappedKernel] = []

    def visit(self, tree: Tree, open_ones: isl.UnionMap, above: tuple[LoopNode, ...]) -> Tree:
        """Map what is inside the host's loops `above`, which leave the dependences `open_ones` to the loops inside."""
        if isinstance(tree, SequenceNode):
            return block([self.visit(item, between_instances(open_ones, item.domain), above) for item in tree.items])
        if not isinstance(tree, LoopNode):
            self.cost += launch_cost(above) + kernel_cost(warp_strides(self.scop, above, tree, None), 1, 1, self.facts).cycles
            return tree
        chain = list(_chain(tree))
        free = [depth for depth, loop in enumerate(chain) if stays(open_ones, LoopValues(loop.values))]
        if free:
            return self._kernel(chain, free, above, open_ones)
        rest = within_iterations(open_ones, LoopValues(tree.values))
        return with_children(tree, [self.visit(tree.body, rest, (*above, tree))])

    def _kernel(self, chain: Sequence[LoopNode], free: Sequence[int], above: Sequence[LoopNode], open_ones: isl.UnionMap) -> Tree:
        """The nest of `chain` with some of its `free` loops mapped, outermost."""
        counted, name = [_counted(loop) for loop in chain], f"kernel{self.first + len(self.kernels)}"
        nest = SumsOfProducts.of(self.scop, above, counted, free)
        tile = None if nest is None else tile_shape([extent_of(counted[depth]) for depth in nest.chosen], self.facts)
        chosen = nest.chosen if nest and tile else self._chosen(counted, free, above)
        mapped = [counted[depth] for depth in chosen]
        tree = nested([loop for depth, loop in enumerate(chain) if depth not in chosen], chain[-1].body)
        cost, width, threads = self._shape(above, mapped, tree, tile.threads if tile else None)
        phases = None if tile else RowPhases.of(self.scop, name, above, counted, free, open_ones, self.facts)
        transposed = None if tile else TransposedTiles.of(self.scop, name, above, counted, free, self.facts)
        if transposed and transposed.cycles < min(cost, phases.cost(self.scop) if phases else cost):
            self.cost += transposed.cycles
            self.kernels.append(MappedKernel(name, transposed.threads, transposed.reuses))
            return transposed.tree()
        if phases and phases.cost(self.scop) < cost:
            self.cost += phases.cost(self.scop)
            self.kernels.append(MappedKernel(name, phases.threads))
            return phases.in_vectors(self.scop).tree()
        self.cost += cost / (tile.gain if tile else 1)
        if nest and tile:
            tiles = ThreadTiles(name, above, mapped, nest, tile)
            self.kernels.append(MappedKernel(name, threads, tiles.reuses))
            return tiles.tree()
        self.kernels.append(MappedKernel(name, threads))
        tree = with_neighbours(tree, mapped[0].values, width)
        mapped[0] = replace(mapped[0], values=tile_number(mapped[0].values, width))
        for unit in UNITS:
            for dim, (loop, size) in enumerate(zip(mapped, threads, strict=True)):
                values = tile_number(loop.values, size) if unit == "block" else place_in_tile(loop.values, size)
                tree = around(values, tree, name_of(name, GpuMapping(unit, dim)), "parallel")
        return tree

    def _shape(
        self, above: Sequence[LoopNode], mapped: Sequence[LoopNode], tree: Tree, threads: tuple[int, ...] | None
    ) -> tuple[float, int, tuple[int, ...]]:
        """The cycles of `tree` in the loops `mapped` (x first), how many neighbours along x a thread is to take, and the threads of
        a block, unless they are given. The cycles are those of single elements: vectors do not decide on the loops."""
        statements = warp_strides(self.scop, above, nested(mapped[::-1], tree), len(above) + len(mapped) - 1)
        found = []
        for width in [1] if threads else vector_widths(statements):
            extents = [-(-extent_of(mapped[0]) // width), *(extent_of(loop) for loop in mapped[1:])]
            size = threads or block_shape(extents, self.facts)
            found.append((kernel_cost(statements, prod(extents), prod(size), self.facts, width), width, size))
        _, width, size = min(found)
        return launch_cost(above) + found[0][0].cycles, width, size

    def _chosen(self, chain: Sequence[LoopNode], free: Sequence[int], above: Sequence[LoopNode]) -> list[int]:
        """The loops to map, x first: along x accesses lie side by side, the others have the most iterations."""
        nest = nested(chain, chain[-1].body)
        inner_first = [depth for depth in reversed(free) if extent_of(chain[depth]) > 1] or list(reversed(free))
        along = min(inner_first, key=lambda depth: sectors_along(self.scop, above, nest, depth, self.facts))
        others = sorted(inner_first, key=lambda depth: extent_of(chain[depth]), reverse=True)
        kept = [depth for depth in others if depth != along][: _MOST_DIMS - 1]
        return [along, *(depth for depth in inner_first if depth in kept)]


def _chain(tree: LoopNode) -> Iterator[LoopNode]:
    """The loops directly in each other, from the outside in."""
    node: Tree = tree
    while isinstance(node, LoopNode):
        yield node
        node = node.body


def _counted(loop: LoopNode) -> LoopNode:
    """The loop with a variable that counts its iterations from 0, or from a parameter's value, without gaps."""
    values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(loop.values).range())
    first, stride = values.dim_min_val(0), stride_of(loop) or 1
    offset = int(str(first)) if first.is_int() else 0
    if stride > 1 and not first.is_int():
        offset = int(str(values.get_stride_info(0).get_offset().get_constant_val()))
    moved = loop.values.sub(isl.UnionPwAff.val_on_domain(loop.domain, isl.Val(offset)))
    counted = moved.scale_down_val(isl.Val(stride)).floor() if stride > 1 else moved
    return LoopNode(loop.domain, counted, loop.body, "", "loop")
