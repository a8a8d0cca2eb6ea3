"""Several results for each thread: a block's tile in registers, as sums of products want it.

A thread computes `copies` results along x and y, so far apart as a block has threads, so that every number that it loads serves
several of them; a loop over tiles of a sum around the threads leaves room for panels in shared memory (`shared_panels.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_values import place_in_tile, tile_number
from dlc.lowering.affine.schedule.iterations import value_map
from dlc.lowering.affine.schedule.loop_tree import Kind, LoopNode, Tree, around, block, restrict
from dlc.lowering.affine_to_gpu.grid import GpuMapping, Unit, name_of
from dlc.lowering.affine_to_gpu.sums_of_products import Sum, SumsOfProducts
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine


@dataclass(frozen=True)
class Shape:
    """Threads of a block and results of a thread along each dim, x first."""

    threads: tuple[int, ...]
    copies: tuple[int, ...]

    @property
    def sizes(self) -> list[int]:
        """What a block computes along each dim."""
        return [threads * copies for threads, copies in zip(self.threads, self.copies, strict=True)]

    @property
    def gain(self) -> float:
        """How many times fewer loads a thread needs for a result than with one result for each thread."""
        return 2 * prod(self.copies[:2]) / sum(self.copies[:2])


def tile_shape(extents: Sequence[int], facts: GpuMachine) -> Shape | None:
    """The largest tile that leaves no multiprocessor without a block, and more than one block; None where there is none."""
    rest = (1,) * (len(extents) - 2)
    for copies in policy().gpu.thread_results:
        threads = policy().gpu.tile_threads
        shape = Shape((threads, threads, *rest), (copies, copies, *rest))
        blocks = prod(-(-extent // size) for extent, size in zip(extents, shape.sizes, strict=True))
        fits = all(extent >= size for extent, size in zip(extents, shape.sizes, strict=True))
        if fits and blocks >= max(2, facts.multiprocessors):
            return shape
    return None


@dataclass(frozen=True, eq=False)
class BlockTile:
    """What a block of the kernel `name` computes of the loops that are mapped, x first."""

    name: str
    loops: Sequence[LoopNode]
    shape: Shape

    def mapped(self, unit: Unit) -> list[LoopNode]:
        """The loops over blocks or threads, x innermost."""
        found = []
        for dim, (loop, size) in enumerate(zip(self.loops, self.shape.sizes, strict=True)):
            values = tile_number(loop.values, size) if unit == "block" else place_in_tile(loop.values, self.shape.threads[dim])
            found.append(replace(loop, values=values, name=name_of(self.name, GpuMapping(unit, dim)), kind="parallel"))
        return found[::-1]

    def results(self, kind: Kind) -> list[LoopNode]:
        """The loops over a thread's results, x innermost."""
        pairs = zip(self.loops, self.shape.threads, self.shape.copies, strict=True)
        found = [
            replace(loop, values=place_in_tile(tile_number(loop.values, threads), copies), name="", kind=kind)
            for loop, threads, copies in pairs
        ]
        return [loop for loop, copies in zip(found, self.shape.copies, strict=True) if copies > 1][::-1]


@dataclass(frozen=True, eq=False)
class Reuse:
    """The name of a loop over tiles, the arrays whose elements in a tile are better read from shared memory, and what a tile
    computes, as loops that are not cut into whole tiles of results and others.

    Warps go along the rows of a panel, or, with `by_columns`, along its columns.
    """

    tile: str
    arrays: tuple[str, ...]
    compute: Tree
    by_columns: bool = False


@dataclass(frozen=True, eq=False)
class ThreadTiles:
    """A kernel whose threads have tiles: its name, the host's loops, the loops that are mapped (x first), and what it does."""

    name: str
    above: Sequence[LoopNode]
    mapped: Sequence[LoopNode]
    nest: SumsOfProducts
    shape: Shape

    @property
    def _block(self) -> BlockTile:
        return BlockTile(self.name, self.mapped, self.shape)

    @property
    def reuses(self) -> tuple[Reuse, ...]:
        """What may be read from shared memory, sum by sum."""
        plain = [*self._block.mapped("thread"), *self._block.results("loop")]
        return tuple(
            Reuse(self._tile_name(part), part.reused, nested([*plain, *part.loops[part.at :]], part.leaf))
            for part in self.nest.sums
        )

    def tree(self) -> Tree:
        """The blocks, and in each the parts of the nest one after the other, each with loops over threads of its own."""
        plain = [*self._block.mapped("thread"), *self._block.results("loop")]
        parts = [self._sum(part) if isinstance(part, Sum) else nested(plain, part) for part in self.nest.parts]
        return nested([*self._block.mapped("block"), *self.nest.around], block(parts))

    def _tile_name(self, part: Sum) -> str:
        return f"{self.name}.tile{self.nest.sums.index(part)}"

    def _sum(self, part: Sum) -> Tree:
        """The tiles of a sum, and in each the threads: those of whole tiles of results apart from what is left."""
        total = part.loops[part.at]
        tiles = replace(total, values=tile_number(total.values, policy().gpu.tile_threads), name=self._tile_name(part))
        outer, inner = [*part.loops[: part.at], tiles], part.loops[part.at :]
        threads, domain = self._block.mapped("thread"), part.leaf.domain
        whole = self._whole(outer, part)
        found = [
            restrict(nested([*threads, *inner, *self._block.results("unroll")], part.leaf), whole),
            restrict(nested([*threads, *self._block.results("loop"), *inner], part.leaf), domain.subtract(whole)),
        ]
        return nested(outer, block([tree for tree in found if tree is not None]))

    def _whole(self, outer: Sequence[LoopNode], part: Sum) -> isl.UnionSet:
        """The instances of those iterations of `outer` in which each thread has all of its results, or none."""
        domain, results = part.leaf.domain, self._block.results("loop")
        homes = [*self.above, *self._block.mapped("block"), *self.nest.around, *outer]
        home = value_map(homes, domain)
        thread = value_map([*homes, *self._block.mapped("thread"), *part.loops[part.at :]], domain)
        have = isl.Map.from_union_map(thread.reverse().apply_range(value_map(results, domain)))
        sizes = [copies for copies in self.shape.copies if copies > 1][::-1]
        bounds = " and ".join(f"0 <= c{at} < {size}" for at, size in enumerate(sizes))
        box = isl.Set(f"{{ [{', '.join(f'c{at}' for at in range(len(sizes)))}] : {bounds} }}")
        missing = isl.Map.from_domain_and_range(have.domain(), box).subtract(have).domain()
        partial = isl.UnionSet.from_set(missing).apply(thread.reverse()).apply(home)
        return domain.subtract(partial.apply(home.reverse())).coalesce()


def nested(loops: Sequence[LoopNode], body: Tree) -> Tree:
    """`body` in `loops`, which are given from the outside in."""
    for loop in reversed(loops):
        body = around(loop.values, body, loop.name, loop.kind)
    return body
