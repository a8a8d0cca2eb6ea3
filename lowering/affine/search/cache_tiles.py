"""Blocks of loops around register tiles, and panels copied in the order in which tiles read them, chosen by `memory_costs.py`.

From the outside in: loops over blocks of the tile's two loops and of sums, loops over tiles, and the sums that a tile keeps in
registers (after Goto and van de Geijn, TOMS 2008). The order of the loops over blocks is chosen for each nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any, Literal

from dlc.lowering.affine.cost.block_costs import BlockedNestCost, CacheBlocks
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.affine.cost.memory_costs import Levels, MemoryModel, PackedPanel
from dlc.lowering.affine.cost.references import Reference
from dlc.lowering.affine.cost.tile_costs import BandNestCost
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.search.candidates import Candidate, search
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

Unit = Literal["lanes", "copies", "sums"]
_UNITS: tuple[Unit, ...] = ("lanes", "copies", "sums")


@dataclass(frozen=True)
class CachePlan:
    """The loops from the outside in as (place in the chain, iterations a step), and which references are copied at which depth."""

    levels: tuple[tuple[int, int], ...]
    panels: Mapping[Reference, PackedPanel] = field(default_factory=dict)
    cycles: float = 0.0
    plain_cycles: float = 0.0
    """What tiles and memory take, with the plan and without."""

    @property
    def text(self) -> str:
        """What was chosen and why; loops of the chain are numbered from the outside in."""
        loops = ", ".join(f"{at} by {size}" if size > 1 else str(at) for at, size in self.levels)
        copies = "".join(
            f"; {reference.access.text.replace(' reads ', ' reads a copy of ')} made inside {panel.depth} of them"
            for reference, panel in self.panels.items()
        )
        return f"loops {loops}{copies}; {self.cycles:.3g} cycles, {self.plain_cycles:.3g} without blocks"

    def extent_at(self, depth: int, member: int, whole: int) -> int:
        """How many iterations of a loop are left inside the first `depth` levels, of `whole`."""
        return next((size for at, size in reversed(self.levels[:depth]) if at == member), whole)


@dataclass(frozen=True)
class _Choice:
    """One point of the search: block sizes (0 for none), how many loops of sums are outside the tiles, orders, what is copied."""

    order: tuple[Unit, ...] = ("lanes", "sums", "copies")
    lanes: int = 0
    copies: int = 0
    sums: int = 0
    hoisted: int = 0
    copies_first: bool = False
    free_inside: bool = False
    packed: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class CacheBlockPlanner:
    """Plans blocks for a nest, whose accesses are `refs`; what is written in it is not copied."""

    refs: Sequence[Reference]
    nest: BandNestCost
    machine: Machine
    pack: bool = True

    @cached_property
    def packed_nest(self) -> BandNestCost:
        """The nest as tiles see it that read copies: their elements lie side by side."""
        copied = {reference.access for reference in self._unwritten if _rises(reference)}
        strides = [
            [(access, 1 if stride and access in copied else stride) for access, stride in member] for member in self.nest.strides
        ]
        straddling = {(ref.access, at) for ref in self._unwritten for at in _straddled(ref, self.nest.lanes)}
        return replace(
            self.nest, strides=strides, straddling=frozenset(straddling), line_cycles=policy().cost.exposed_resident_line
        )

    def plan(self, tile: Tile, plain: Tile) -> CachePlan | None:
        """The cheapest blocks and panels around tiles `tile`; None where loops of tiles `plain`, all by themselves, are as good."""
        packable = [reference for reference in self._unwritten if _is_packable(reference, tile)]
        strided = [ref for ref in self.refs if tile.vector_loop is not None and ref.stride(tile.vector_loop) not in (0, 1)]
        if any(reference not in packable and not reference.access.writes for reference in strided):
            return None
        must_pack = frozenset(place for place, reference in enumerate(packable) if reference in strided)
        model = MemoryModel(self.refs, self.nest.extents, self.machine, self.nest.lanes)
        search = CacheSearch(BlockedNestCost(self.packed_nest, tile, model), self.machine, packable, must_pack)
        without = CacheSearch(BlockedNestCost(self.nest, plain, model), self.machine).plain_cycles
        plan = search.best()
        return (
            replace(plan, plain_cycles=without) if plan is not None and plan.cycles < policy().search.block_gain * without else None
        )

    @cached_property
    def _unwritten(self) -> list[Reference]:
        written = {reference.access.array for reference in self.refs if reference.access.writes}
        return [reference for reference in self.refs if self.pack and reference.access.array not in written]


def _rises(reference: Reference) -> bool:
    return all(factor >= 0 for factors in reference.factors for factor in factors)


def _is_packable(reference: Reference, tile: Tile) -> bool:
    """Whether several tiles read the same elements, and a panel can have them in the order in which a tile reads them."""
    tiled = [at for at in (tile.vector_loop, tile.copied_loop) if at is not None]
    along = [factors[at] for factors in reference.factors for at in tiled if at == tile.vector_loop and factors[at]]
    is_reused = not all(reference.moves_along(at) for at in tiled)
    return _rises(reference) and not reference.is_joined and along in ([], [1]) and is_reused


def _straddled(reference: Reference, lanes: int) -> list[int]:
    """The loops along which vectors begin anywhere in a line, panels or not, since another loop moves the same subscript."""
    return [
        at
        for factors in reference.factors
        for at, factor in enumerate(factors)
        if factor == 1 and any(other % lanes for place, other in enumerate(factors) if place != at)
    ]


@dataclass(eq=False)
class CacheSearch:
    """Finds the cheapest plan for a nest that is cut into tiles of one shape.

    `packable` are references that may be copied; `must_pack` (their places) those that a tile cannot read otherwise.
    """

    blocked: BlockedNestCost
    machine: Machine
    packable: Sequence[Reference] = ()
    must_pack: frozenset[int] = frozenset()
    _known: dict[_Choice, float] = field(default_factory=dict)
    _costs: dict[tuple[Levels, int, int, frozenset[int]], float] = field(default_factory=dict)

    @property
    def nest(self) -> BandNestCost:
        """The nest that is cut."""
        return self.blocked.nest

    @property
    def tile(self) -> Tile:
        """The shape of its tiles."""
        return self.blocked.tile

    def best(self) -> CachePlan | None:
        """The cheapest plan; None where no sums stay in the tile."""
        if not self.sums or self.tile.lanes == 1:
            return None
        best = search([self._starts], self._descend)
        assert best is not None  # there are starts
        levels, blocks = self._levels(best.schedule)
        return CachePlan(levels, self._panels(best.schedule, levels, blocks), best.cycles)

    @property
    def plain_cycles(self) -> float:
        """Cycles of the loops without blocks."""
        return self._cost(_Choice(packed=self.must_pack))

    def _starts(self) -> Iterator[_Choice]:
        """Where the search begins: every order, with blocks of a middling size."""
        everything = frozenset(range(len(self.packable)))
        orders: Iterator[tuple[Unit, ...]] = permutations(_UNITS)
        for order, hoisted in product(orders, range(len(self.sums))):
            yield _Choice(order, 8, 16, 256, hoisted, packed=everything)

    def _descend(self, choice: _Choice) -> Candidate[_Choice]:
        """The best of what is reached by changing one decision at a time."""
        least, before = self._cost(choice), float("inf")
        while least < before:
            before = least
            for name, option in self._options():
                other = replace(choice, **{name: option})
                if self._cost(other) < least:
                    choice, least = other, self._cost(other)
        return Candidate(choice, least)

    def _options(self) -> Iterator[tuple[str, Any]]:
        sizes = {"lanes": policy().blocks.tile_blocks, "copies": policy().blocks.tile_blocks, "sums": policy().blocks.sum_blocks}
        yield from ((name, size) for name, known in sizes.items() for size in (0, *known))
        yield from ((name, value) for name in ("copies_first", "free_inside") for value in (False, True))
        for count in range(len(self.packable) + 1):
            yield from (("packed", self.must_pack | set(some)) for some in combinations(range(len(self.packable)), count))

    # What a choice means.

    @cached_property
    def _tiled(self) -> list[int]:
        """The tile's loops in the order of those over tiles."""
        return [at for at in self.tile.order if at in (self.tile.vector_loop, self.tile.copied_loop)]

    @cached_property
    def _around(self) -> Sequence[int]:
        """The loops around those over tiles."""
        return self.tile.order[: self.tile.order.index(self._tiled[0])] if self._tiled else self.tile.order[:-1]

    @cached_property
    def _inside(self) -> list[int]:
        """The loops inside those over tiles."""
        return [at for at in self.tile.order[len(self._around) :] if at not in self._tiled]

    @cached_property
    def sums(self) -> list[int]:
        """The loops inside those over tiles that carry sums; blocks of them keep their order."""
        return [at for at in self._inside if not self.nest.is_free[at]] if self._tiled else []

    def _free(self, choice: _Choice) -> list[int]:
        """The loops around that go inside of the blocks."""
        kept = [place for place, at in enumerate(self._around) if not self.nest.is_free[at]]
        return list(self._around[kept[-1] + 1 if kept else 0 :]) if choice.free_inside else []

    def _blocks(self, choice: _Choice, unit: Unit) -> list[tuple[int, int]]:
        """The loops outside of the tiles' that a unit stands for."""
        if unit == "sums" and not self.sums:
            return []
        if unit == "sums":
            hoisted, split = self.sums[: choice.hoisted], self.sums[choice.hoisted]
            return [*((at, 1) for at in hoisted), *([(split, choice.sums)] if choice.sums else [])]
        tile = self.tile
        member, tiles = (tile.vector_loop, choice.lanes) if unit == "lanes" else (tile.copied_loop, choice.copies)
        return [] if member is None or not tiles else [(member, tiles * self.nest.tile_size(tile, member))]

    def _levels(self, choice: _Choice) -> tuple[tuple[tuple[int, int], ...], int]:
        """The loops from the outside in, and how many of them are outside of those over tiles."""
        free = self._free(choice)
        outer = [(at, 1) for at in self._around if at not in free]
        blocks = [block for unit in choice.order for block in self._blocks(choice, unit)]
        hoisted = self.sums[: choice.hoisted]
        outer += [(at, size) for at, size in blocks if size < self.nest.extents[at] or at in hoisted]
        tiled = self._tiled[::-1] if choice.copies_first else self._tiled
        inside = [at for at in self._inside if at not in hoisted]
        inner = [(at, self.nest.tile_size(self.tile, at)) for at in (*free, *tiled, *inside)]
        return (*outer, *inner), len(outer)

    def _panels(self, choice: _Choice, levels: Levels, blocks: int) -> dict[Reference, PackedPanel]:
        found = {}
        for place in sorted(choice.packed):
            reference = self.packable[place]
            depth = max((at + 1 for at in range(blocks) if reference.moves_along(levels[at][0])), default=0)
            found[reference] = self._panel(reference, depth)
        return found

    def _panel(self, reference: Reference, depth: int) -> PackedPanel:
        """A copy whose rows are those of a tile, or else of the array."""
        lanes, copied = self.tile.vector_loop, self.tile.copied_loop
        if lanes is not None and reference.moves_along(lanes):
            return PackedPanel(depth, self.nest.tile_size(self.tile, lanes), reference.stride(lanes) != 1)
        if copied is not None and reference.stride(copied) == 1:
            return PackedPanel(depth, self.tile.copies, False)
        box = reference.box(self.nest.extents)
        rows = [size for size, stride in zip(box, reference.strides, strict=True) if stride == 1]
        return PackedPanel(depth, min(rows, default=1), not rows)

    def _cost(self, choice: _Choice) -> float:
        """Cycles for all of the nest's iterations."""
        if choice not in self._known:
            levels, blocks = self._levels(choice)
            key = levels, blocks, choice.hoisted, choice.packed  # block sizes beyond a loop's end give the same loops
            if key not in self._costs:
                found = CacheBlocks(levels, self._panels(choice, levels, blocks), len(self.sums) - choice.hoisted)
                self._costs[key] = cycles(self.blocked, found, self.machine)
            self._known[choice] = self._costs[key]
        return self._known[choice]
