"""Along which loops of a nest its accesses go through memory without gaps, and the sectors that warps move along others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc.lowering.affine.cost.strides import access_strides
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.loop_tree import LoopNode, statement_names
from dlc.lowering.affine_to_gpu.mapping_costs import volume_of
from dlc.lowering.affine_to_gpu.thread_tiles import nested
from dlc.lowering.affine_to_gpu.warp_strides import extent_of, leaves_of
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine

Run = tuple[int, ...]
"""Depths of loops, the innermost first: joined into one loop in that order, an access goes through memory without gaps."""


@dataclass(frozen=True)
class Crossing:
    """Results lie side by side along `results`, and elements of the `arrays` that are read along `reads`."""

    results: Run
    reads: Run
    arrays: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AccessRuns:
    """The accesses of a chain's statements to memory: strides in elements by depth (0 may be left out), and how often they run.

    `extents` are those of the chain's loops.
    """

    extents: Sequence[int]
    strides: Mapping[MemRefAccess, Sequence[int | None]]
    volumes: Mapping[MemRefAccess, float]
    facts: GpuMachine

    @classmethod
    def of(cls, scop: Scop, above: Sequence[LoopNode], chain: Sequence[LoopNode], facts: GpuMachine) -> AccessRuns:
        """Strides that are known when the function is called count as large ones."""
        strides: dict[MemRefAccess, list[int | None]] = {}
        volumes: dict[MemRefAccess, float] = {}
        dims = range(len(above), len(above) + len(chain))
        for loops, leaf in leaves_of(above, nested(chain, chain[-1].body)):
            times = [loop.values for loop in loops]
            found = [dict(one) for one in access_strides(scop, times, leaf.domain, dims, policy().limits.unbounded_trips)]
            (name,) = statement_names(leaf)
            for access in [one for one in scop.by_name[name].accesses if one.array.is_memory]:
                strides[access] = [one.get(access, 0) for one in found]
                volumes[access] = volume_of(leaf.domain)
        return cls([extent_of(loop) for loop in chain], strides, volumes, facts)

    def crossings(self) -> Iterator[Crossing]:
        """The ways to lay results along warps while some arrays, which nothing here writes, are better read along another loop."""
        written = [access for access in self.strides if access.writes]
        for results in dict.fromkeys(self.warp_run(access) for access in written):
            if not results:
                continue
            found: dict[Run, list[str]] = {}
            for array in {access.array: None for access in self.strides if not access.array.loops}:
                reads = self._better_along(array, results)
                if reads and all(access.array is not array for access in written):
                    found.setdefault(reads, []).append(array.name)
            yield from (Crossing(results, reads, tuple(arrays)) for reads, arrays in found.items())

    def _better_along(self, array: Array, results: Run) -> Run:
        """The loops along which all reads of `array` are better than along `results`; none where there are no such loops."""
        runs = {access: self.warp_run(access) for access in self.strides if access.array is array}
        better = all(run and self.share(access, run) < self.share(access, results) for access, run in runs.items())
        first = next(iter(runs.values()))
        return first if better and first[0] != results[0] and set(runs.values()) == {first} else ()

    def warp_run(self, access: MemRefAccess) -> Run:
        """The loops that a warp goes along to touch neighbours, as few as it takes for more than half of its threads."""
        found: list[int] = []
        want = 1
        while 2 * want <= self.facts.warp_threads:
            depth = next((d for d, stride in enumerate(self.strides[access]) if stride == want and self.extents[d] > 1), None)
            if depth is None:
                break
            found.append(depth)
            want *= self.extents[depth]
        return tuple(found)

    def share(self, access: MemRefAccess, along: Run) -> float:
        """Sectors that memory moves for one element, where lanes of a warp are neighbours along those loops."""
        strides = self.strides[access]
        step = strides[along[0]]
        if step is None:
            return 1.0
        reach, want = 1, step
        for depth in along:
            if strides[depth] != want:
                break
            reach *= self.extents[depth]
            want *= self.extents[depth]
        lanes = min(reach, self.facts.warp_threads)
        return min(1.0, max(abs(step) * access.array.element_bytes / self.facts.sector_bytes, 1 / lanes))
