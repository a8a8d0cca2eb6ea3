"""What an order of loops and blocks costs in a machine's caches, in cycles: lines and pages that go from one level to the next.

The elements that one run of a loop's body touches stay in a cache if they fit. So a reference costs the elements that it touches in
the outermost body that fits, times the runs of that body with other elements (after Wolf and Lam, PLDI 1991). Copies of panels lie
in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import prod
from operator import mul

from dlc.lowering.affine.cost.references import Reference, packed_runs
from dlc.lowering.policy import policy
from dlc.targets.machine import PAGE_BYTES, Machine

Levels = Sequence[tuple[int, int]]
"""Loops from the outside in: the place in the chain, and how many of its iterations a step takes."""


@dataclass(frozen=True)
class _Store:
    """Something that holds `capacity` units of `unit` bytes; another one costs `cycles`."""

    unit: int
    capacity: int
    cycles: float
    has_sets: bool = False


def _stores_of(machine: Machine) -> tuple[_Store, ...]:
    """Caches and tables of pages; the cycles, most of which work hides, fit products of matrices on a Sapphire Rapids core."""
    line = machine.line_bytes
    return (
        _Store(line, machine.l1_bytes * 3 // 4 // line, 1.0, has_sets=True),
        _Store(line, machine.l2_bytes * 5 // 8 // line, policy().cost.exposed_far_line),
        _Store(PAGE_BYTES, policy().blocks.near_pages, 2.5),
        _Store(PAGE_BYTES, 1024, policy().cost.page_walk),
    )


@dataclass(frozen=True, eq=False)
class PackedPanel:
    """A copy of what a reference touches inside the first `depth` loops, in rows of `row` elements.

    It `is_transposed` where neighbours come from apart.
    """

    depth: int
    row: int
    is_transposed: bool


_Touched = tuple[int, ...]
"""Units of each store that a reference takes, and lines."""


@dataclass(frozen=True, eq=False)
class MemoryModel:
    """The references of a chain whose loops have so many iterations, `lanes` of them in a vector."""

    references: Sequence[Reference]
    extents: Sequence[int]
    machine: Machine
    lanes: int

    _known: dict[tuple[Reference, bool, tuple[int, ...]], _Touched] = field(default_factory=dict)
    _known_copies: dict[tuple[Reference, int, bool, tuple[int, ...]], float] = field(default_factory=dict)

    @cached_property
    def _stores(self) -> tuple[_Store, ...]:
        return _stores_of(self.machine)

    def extents_at(self, levels: Levels) -> list[tuple[int, ...]]:
        """How many iterations of each loop are left inside the first 0, 1, ... levels."""
        left = list(self.extents)
        found = [tuple(left)]
        for member, size in levels:
            left[member] = size
            found.append(tuple(left))
        return found

    def cycles(self, levels: Levels, extents: Sequence[tuple[int, ...]], panels: Mapping[Reference, PackedPanel]) -> float:
        """Cycles of all traffic, copies included; `extents` are those `extents_at` the levels."""
        trips = [-(-extents[at][member] // size) for at, (member, size) in enumerate(levels)]
        runs = list(accumulate(trips, mul, initial=1))
        touched = [self._touched_at(ref, ref in panels, levels, extents) for ref in self.references]
        total = sum(self._copying(ref, panel, extents[panel.depth]) * runs[panel.depth] for ref, panel in panels.items())
        for place, store in enumerate(self._stores):
            fits = next((at for at in range(len(trips)) if sum(own[at][place] for own in touched) <= store.capacity), len(trips))
            for reference, own in zip(self.references, touched, strict=True):
                around = fits
                while around and not reference.moves_along(levels[around - 1][0]):
                    around -= 1
                moved = own[fits][-1 if store.has_sets else place] * runs[around]
                total += moved * store.cycles * (policy().cost.written_line if reference.access.writes else 1.0)
        return total

    def _touched_at(
        self, reference: Reference, is_packed: bool, levels: Levels, extents: Sequence[tuple[int, ...]]
    ) -> list[_Touched]:
        """What a reference takes inside the first 0, 1, ... levels."""
        found = [self._touched(reference, is_packed, extents[0])]
        for (member, _), inner in zip(levels, extents[1:], strict=True):
            found.append(self._touched(reference, is_packed, inner) if reference.moves_along(member) else found[-1])
        return found

    def _touched(self, reference: Reference, is_packed: bool, extents: tuple[int, ...]) -> _Touched:
        key = reference, is_packed, tuple(extents[at] for at in reference.dependent_loops)
        if key not in self._known:
            runs = packed_runs(reference, extents) if is_packed else reference.runs(extents, self.machine.line_bytes)
            self._known[key] = (
                *(runs.occupied(store.unit) if store.has_sets else runs.units(store.unit) for store in self._stores),
                runs.units(self.machine.line_bytes),
            )
        return self._known[key]

    def _copying(self, reference: Reference, panel: PackedPanel, extents: Sequence[int]) -> float:
        """Cycles to fill a panel once."""
        key = reference, panel.row, panel.is_transposed, tuple(extents[at] for at in reference.dependent_loops)
        if key not in self._known_copies:
            elements = prod(reference.box(extents))
            lines = reference.runs(extents, self.machine.line_bytes).units(self.machine.line_bytes)
            pages = reference.runs(extents, PAGE_BYTES).units(PAGE_BYTES)
            whole, part = divmod(panel.row, self.lanes)
            row = (
                policy().cost.copied_transposed * panel.row
                if panel.is_transposed
                else policy().cost.copied_vector * whole + (policy().cost.copied_part if part else 0.0)
            )
            self._known_copies[key] = (
                elements / panel.row * (policy().cost.row_start + row)
                + lines * policy().cost.exposed_far_line
                + pages * policy().cost.page_walk
            )
        return self._known_copies[key]
