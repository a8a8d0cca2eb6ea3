"""What an order of loops and blocks costs in a machine's caches, in cycles: lines and pages that go from one level to the next.

A loop's body leaves in a cache what it touches where that fits, so a reference costs what the outermost body that fits touches,
as often as that body runs with other elements (after Wolf and Lam, PLDI 1991). Copies of panels lie in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dlc.lowering.polyhedral.references import Reference, Runs, packed_runs

Levels = Sequence[tuple[int, int]]
"""Loops from the outside in: the place in the chain, and how many of its iterations a step takes."""

_PAGE_BYTES = 4096
_BEYOND_L2 = 4.0
"""Cycles for a line that comes from beyond the second-level cache."""

_WALK = 12.0
"""Cycles to find a page that no table holds."""

_CONTIGUOUS = 1.0
"""Cycles to copy a vector."""

_TRANSPOSED = 1.5
"""Cycles to copy an element whose neighbours in the panel lie apart in memory."""


@dataclass(frozen=True)
class Caches:
    """Sizes of the caches of a core, in bytes."""

    l1_bytes: int
    l2_bytes: int
    line_bytes: int = 64


@dataclass(frozen=True)
class _Store:
    """Something that holds `capacity` units of `unit` bytes; another one costs `cycles`."""

    unit: int
    capacity: int
    cycles: float
    has_sets: bool = False


def _stores(caches: Caches) -> tuple[_Store, ...]:
    """Caches and tables of pages; the cycles, most of which work hides, fit products of matrices on a Sapphire Rapids core."""
    line = caches.line_bytes
    return (
        _Store(line, caches.l1_bytes * 3 // 4 // line, 1.0, has_sets=True),
        _Store(line, caches.l2_bytes * 5 // 8 // line, _BEYOND_L2),
        _Store(_PAGE_BYTES, 64, 2.5),
        _Store(_PAGE_BYTES, 1024, _WALK),
    )


@dataclass(frozen=True, eq=False)
class Panel:
    """A copy of what a reference touches inside the first `depth` loops; `is_transposed` where neighbours come from apart."""

    depth: int
    is_transposed: bool


@dataclass(frozen=True, eq=False)
class MemoryModel:
    """The references of a chain whose loops have so many iterations, `lanes` of them in a vector."""

    references: Sequence[Reference]
    extents: Sequence[int]
    caches: Caches
    lanes: int

    def extents_at(self, levels: Levels) -> list[list[int]]:
        """How many iterations of each loop are left inside the first 0, 1, ... levels."""
        found = [list(self.extents)]
        for member, size in levels:
            found.append([size if at == member else extent for at, extent in enumerate(found[-1])])
        return found

    def cycles(self, levels: Levels, panels: Mapping[Reference, Panel]) -> float:
        """Cycles of all traffic, copies included."""
        extents = self.extents_at(levels)
        trips = [-(-extents[at][member] // size) for at, (member, size) in enumerate(levels)]
        runs = {ref: [self._runs(ref, inner, ref in panels) for inner in extents] for ref in self.references}
        moved = sum(self._traffic(store, runs, levels, trips) for store in _stores(self.caches))
        return moved + sum(self._copying(ref, panel, extents[panel.depth], trips) for ref, panel in panels.items())

    def _runs(self, reference: Reference, extents: Sequence[int], is_packed: bool) -> Runs:
        return packed_runs(reference, extents) if is_packed else reference.runs(extents, self.caches.line_bytes)

    def _traffic(self, store: _Store, runs: Mapping[Reference, Sequence[Runs]], levels: Levels, trips: Sequence[int]) -> float:
        fits = next((at for at in range(len(trips)) if self._sum(store, runs, at) <= store.capacity), len(trips))
        total = 0.0
        for reference, own in runs.items():
            around = fits
            while around and not reference.moves_along(levels[around - 1][0]):
                around -= 1
            weight = 1.5 if reference.access.writes else 1.0
            total += weight * store.cycles * own[fits].units(store.unit) * prod(trips[:around])
        return total

    @staticmethod
    def _sum(store: _Store, runs: Mapping[Reference, Sequence[Runs]], depth: int) -> int:
        """Units that all references together take."""
        return sum(own[depth].occupied(store.unit) if store.has_sets else own[depth].units(store.unit) for own in runs.values())

    def _copying(self, reference: Reference, panel: Panel, extents: Sequence[int], trips: Sequence[int]) -> float:
        """Cycles to fill a panel, as often as it is filled."""
        elements = prod(reference.box(extents))
        lines = reference.runs(extents, self.caches.line_bytes).units(self.caches.line_bytes)
        pages = reference.runs(extents, _PAGE_BYTES).units(_PAGE_BYTES)
        each = _TRANSPOSED if panel.is_transposed else _CONTIGUOUS / self.lanes
        return (elements * each + lines * _BEYOND_L2 + pages * _WALK) * prod(trips[: panel.depth])
