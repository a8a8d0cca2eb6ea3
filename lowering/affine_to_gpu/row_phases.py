"""Rows of a nest for the warps of a block: the loops inside, one after the other, along the threads of a warp or of several.

for i { for j { A }; for j { B } }  ->  blocks of rows i { threads of rows i { threads along j { A } }; barrier; the same for B }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import islpy as isl

from dlc.lowering.affine.dependences.coincidence import between_instances, stays, within_iterations
from dlc.lowering.affine.polyhedral.loop_values import LoopValues, place_in_tile, tile_number
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.loop_tree import LoopNode, SequenceNode, Tree, block
from dlc.lowering.affine_to_gpu.grid import GpuMapping, Unit, block_shape, name_of, power_above
from dlc.lowering.affine_to_gpu.mapping_costs import Cost, launch_cost, phase_cost, sectors_along
from dlc.lowering.affine_to_gpu.thread_tiles import nested
from dlc.lowering.affine_to_gpu.warp_strides import WarpStrides, extent_of, vector_widths, warp_strides, with_neighbours
from dlc.targets.machine import GpuMachine


@dataclass(frozen=True, eq=False)
class BarrierPhase:
    """Loops and what is in them; the loop number `along` goes along the threads of a row, or, with None, one thread runs them.

    Each of these threads takes `width` neighbours at once.
    """

    loops: tuple[LoopNode, ...]
    body: Tree
    along: int | None
    width: int = 1


@dataclass(frozen=True, eq=False)
class RowPhases:
    """A kernel whose blocks have some rows (`rows`: the mapped loops, y first) and run `phases` for them; loops `around` stay."""

    name: str
    above: Sequence[LoopNode]
    rows: Sequence[LoopNode]
    around: Sequence[LoopNode]
    phases: Sequence[BarrierPhase]
    facts: GpuMachine

    @classmethod
    def of(
        cls,
        scop: Scop,
        name: str,
        above: Sequence[LoopNode],
        chain: Sequence[LoopNode],
        free: Sequence[int],
        open_ones: isl.UnionMap,
        facts: GpuMachine,
    ) -> RowPhases | None:
        """None where nothing is left for warps; `open_ones` are the dependences that the host's loops leave open."""
        body = chain[-1].body
        if not isinstance(body, SequenceNode):
            return None
        chosen = sorted(free, key=lambda depth: (-extent_of(chain[depth]), -depth))[:2]
        rows = [loop for depth, loop in reversed(list(enumerate(chain))) if depth in chosen]
        rest = [loop for depth, loop in enumerate(chain) if depth not in chosen]
        inside = reduce(within_iterations, (LoopValues(loop.values) for loop in chain), open_ones)
        phases = [_phase(scop, [*above, *chain], item, inside, facts) for item in body.items]
        if all(phase.along is None for phase in phases):
            return None
        return cls(name, above, rows, rest, phases, facts)

    @property
    def threads(self) -> tuple[int, ...]:
        """Threads of a block, x first: a warp for each row, or as many warps as most of the loops along them take."""
        warp = self.facts.warp_threads
        extents = sorted(extent_of(phase.loops[phase.along]) for phase in self.phases if phase.along is not None)
        along = max(extents, key=extents.count)
        if warp < along <= self.facts.most_threads and along == power_above(along):
            return (along, *(1 for _ in self.rows))
        return block_shape([warp, *(extent_of(loop) for loop in self.rows)], self.facts)

    def tree(self) -> Tree:
        """Blocks of rows, and in each the phases."""
        parts = [self._of_threads(phase) for phase in self.phases]
        return nested([*self._rows("block"), *self.around], block(parts))

    def cost(self, scop: Scop) -> float:
        """Cycles of all launches."""
        return launch_cost(self.above) + sum(self._cost(phase, self._strides(scop, phase)).cycles for phase in self.phases)

    def in_vectors(self, scop: Scop) -> RowPhases:
        """The same with the vectors that cost least; where sums take some already, with these: a thread keeps to its elements."""
        taken = max((one.taken for phase in self.phases for one in self._strides(scop, phase)), default=1)
        return replace(self, phases=[self._widened(scop, phase, taken) for phase in self.phases])

    def _widened(self, scop: Scop, phase: BarrierPhase, taken: int) -> BarrierPhase:
        statements = self._strides(scop, phase)
        widths = vector_widths(statements) if phase.along is not None else [1]
        is_long = phase.along is not None and extent_of(phase.loops[phase.along]) >= taken * self.threads[0]
        if is_long and taken in widths[1:]:
            widths = [taken]
        wide = [replace(phase, width=width) for width in widths]
        return min(wide, key=lambda one: self._cost(one, statements))

    def _strides(self, scop: Scop, phase: BarrierPhase) -> list[WarpStrides]:
        loops = [*self.above, *self.rows, *self.around]
        nest = nested(phase.loops, phase.body)
        along = self._shared(phase)
        return warp_strides(scop, loops, nest, None if along is None else len(loops) + along)

    def _shared(self, phase: BarrierPhase) -> int | None:
        """The loop whose iterations the lanes share: partial results of theirs they combine by shuffles."""
        is_combined = [extent_of(loop) for loop in phase.loops] == [self.threads[0]]
        return 0 if phase.along is None and is_combined else phase.along

    def _cost(self, phase: BarrierPhase, statements: Sequence[WarpStrides]) -> Cost:
        along = self._shared(phase)
        extent = None if along is None else extent_of(phase.loops[along])
        rows = prod(extent_of(loop) for loop in self.rows)
        return phase_cost(statements, extent, rows, self.threads, self.facts, phase.width)

    def _rows(self, unit: Unit) -> list[LoopNode]:
        found = []
        for dim, (loop, size) in enumerate(zip(self.rows, self.threads[1:], strict=True), 1):
            values = tile_number(loop.values, size) if unit == "block" else place_in_tile(loop.values, size)
            if unit == "block" or size > 1:
                found.append(replace(loop, values=values, name=name_of(self.name, GpuMapping(unit, dim)), kind="parallel"))
        return found[::-1]

    def _of_threads(self, phase: BarrierPhase) -> Tree:
        if phase.along is None:
            return nested([*self._rows("thread"), *phase.loops], phase.body)
        loops, lanes = list(phase.loops), self.threads[0]
        along = loops[phase.along]
        vectors = tile_number(along.values, phase.width)
        loops[phase.along] = replace(along, values=tile_number(along.values, phase.width * lanes))
        warp = replace(
            along, values=place_in_tile(vectors, lanes), name=name_of(self.name, GpuMapping("thread", 0)), kind="parallel"
        )
        body = with_neighbours(phase.body, along.values, phase.width)
        return nested([*self._rows("thread"), warp, *loops], body)


def _phase(scop: Scop, above: Sequence[LoopNode], item: Tree, open_ones: isl.UnionMap, facts: GpuMachine) -> BarrierPhase:
    """One item of the rows' body, along the loop that reads memory best among those that no dependence goes along."""
    loops = list(_chain(item))
    body = loops[-1].body if loops else item
    own = between_instances(open_ones, item.domain)
    free = [depth for depth, loop in enumerate(loops) if stays(own, LoopValues(loop.values)) and extent_of(loop) > 1]
    if not free:
        return BarrierPhase(tuple(loops), body, None)
    along = min(reversed(free), key=lambda depth: sectors_along(scop, above, item, depth, facts))
    return BarrierPhase(tuple(loops), body, along)


def _chain(tree: Tree) -> Iterator[LoopNode]:
    while isinstance(tree, LoopNode):
        yield tree
        tree = tree.body
