"""Tiles of a nest that reads memory along one loop and writes it along another: what is read goes through shared memory.

for i { for j { B[i, j] = A[j, i] } }  ->  blocks of 32 i and 32 j { threads copy rows of A to a panel; barrier; threads write rows
of B, of the panel's columns }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import islpy as isl

from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.loop_values import ends_of
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.loop_tree import LoopNode, Tree
from dlc.lowering.affine_to_gpu.access_runs import AccessRuns, Crossing, Run
from dlc.lowering.affine_to_gpu.grid import power_above
from dlc.lowering.affine_to_gpu.mapping_costs import launch_cost
from dlc.lowering.affine_to_gpu.thread_tiles import BlockTile, Reuse, Shape, nested
from dlc.lowering.affine_to_gpu.warp_strides import extent_of
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine


@dataclass(frozen=True, eq=False)
class TransposedTiles:
    """A kernel whose blocks have tiles: the mapped loops, those `around` tiles, what a tile does, and its cost in cycles.

    Threads read `arrays` from panels in shared memory.
    """

    block: BlockTile
    around: Sequence[LoopNode]
    body: Tree
    arrays: tuple[str, ...]
    cycles: float

    @classmethod
    def of(
        cls, scop: Scop, name: str, above: Sequence[LoopNode], chain: Sequence[LoopNode], free: Sequence[int], facts: GpuMachine
    ) -> TransposedTiles | None:
        """None where no array is read along other loops than those along which results are written."""
        if any(depth not in free and extent_of(loop) > 1 for depth, loop in enumerate(chain)):
            return None
        runs = AccessRuns.of(scop, above, chain, facts)
        found = [_Candidate(name, above, chain, runs, crossing).tiles() for crossing in runs.crossings()]
        return min(found, key=lambda one: one.cycles, default=None)

    @property
    def threads(self) -> tuple[int, ...]:
        """Threads of a block, x first."""
        return self.block.shape.threads

    @property
    def reuses(self) -> tuple[Reuse, ...]:
        """What threads read from shared memory."""
        tile = self._outer()[-1].name
        return (Reuse(tile, self.arrays, self._compute(), by_columns=True),)

    def tree(self) -> Tree:
        """Blocks, and in each the threads; panels come later (`shared_panels.py`)."""
        return nested(self._outer(), self._compute())

    def _outer(self) -> list[LoopNode]:
        return [*self.block.mapped("block"), *self.around]

    def _compute(self) -> Tree:
        return nested([*self.block.mapped("thread"), *self.block.results("loop")], self.body)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """One way to lay results along the warps of the kernel `name`, in the loops of `chain` inside the host's loops `above`."""

    name: str
    above: Sequence[LoopNode]
    chain: Sequence[LoopNode]
    runs: AccessRuns
    crossing: Crossing

    def tiles(self) -> TransposedTiles:
        results, lines = self.crossing.results, self._lines()
        joined, around = self._split([*results, *lines])
        loops = [_joined([self.chain[depth] for depth in group]) for group in (results[::-1], lines[::-1], joined) if group]
        block = BlockTile(self.name, loops, self._shape([extent_of(loop) for loop in loops]))
        kept = [self.chain[depth] for depth in (*around, *(joined if len(joined) > 1 else ()))]
        kept[-1:] = [replace(loop, name=f"{self.name}.tile0") for loop in kept[-1:]]
        return TransposedTiles(block, kept, self.chain[-1].body, self.crossing.arrays, self._cycles(block.shape, loops))

    def _shape(self, extents: Sequence[int]) -> Shape:
        """A warp along each side of a tile; where results and what is read share a loop, a warp along that."""
        facts, inside = self.runs.facts, self._inside()
        wide = facts.warp_threads * inside
        across = wide if wide <= facts.block_threads else facts.warp_threads
        rows = facts.block_threads // across
        most = [power_above(extent) for extent in extents[1:2]]
        threads = [min(rows, one) for one in most]
        copies = [max(1, min(facts.warp_threads, one) // rows) if inside == 1 else 1 for one in most]
        rest = (1,) * len(extents[2:])
        return Shape((across, *threads, *rest), (wide // across, *copies, *rest))

    def _lines(self) -> Run:
        """The loops that go along y: those along which panels are read, or the longest where results lie along these, too."""
        results, reads = self.crossing.results, self.crossing.reads
        apart = reads[: next((at for at, depth in enumerate(reads) if depth in results), None)]
        extents = self.runs.extents
        others = [depth for depth in range(len(extents)) if depth not in results]
        return apart or ((max(others, key=lambda depth: extents[depth]),) if others else ())

    def _inside(self) -> int:
        """How many results lie between neighbours of what is read, where both go along one loop; else 1."""
        results, first = self.crossing.results, self.crossing.reads[0]
        inside = results[: results.index(first)] if first in results else ()
        return prod(self.runs.extents[depth] for depth in inside)

    def _split(self, taken: Sequence[int]) -> tuple[list[int], list[int]]:
        """Of the loops that are not `taken` those that can be joined into one, and others, which stay around tiles."""
        rest = [depth for depth, extent in enumerate(self.runs.extents) if extent > 1 and depth not in taken]
        bounded = [depth for depth in rest if _is_bounded(self.chain[depth])]
        open_ones = [depth for depth in rest if depth not in bounded]
        return [*open_ones[:1], *bounded], open_ones[1:]

    def _cycles(self, shape: Shape, loops: Sequence[LoopNode]) -> float:
        """As `kernel_cost`; each panel takes a copy of its own."""
        runs, facts = self.runs, self.runs.facts
        blocks = prod(-(-extent_of(loop) // side) for loop, side in zip(loops, shape.sizes, strict=True))
        steps = (1 + len(self.crossing.arrays)) * max(runs.volumes.values()) / min(blocks * prod(shape.threads), facts.threads)
        moved = sum(times * self._share(access) for access, times in runs.volumes.items())
        return launch_cost(self.above) + max(steps * policy().gpu.thread_step_cycles, moved / min(facts.multiprocessors, blocks))

    def _share(self, access: MemRefAccess) -> float:
        in_panel = access.array.name in self.crossing.arrays
        return self.runs.share(access, self.crossing.reads if in_panel else self.crossing.results)


def _is_bounded(loop: LoopNode) -> bool:
    """Whether the values of a loop begin with 0 and end with a constant."""
    low, high = ends_of(loop.values)
    return bool(low.is_zero()) and bool(high.is_int())


def _joined(loops: Sequence[LoopNode]) -> LoopNode:
    """One loop over the values of several, outermost first; those inside begin with 0."""
    values = reduce(lambda outer, loop: outer.scale_val(isl.Val(extent_of(loop))).add(loop.values), loops[1:], loops[0].values)
    return replace(loops[-1], values=values)
