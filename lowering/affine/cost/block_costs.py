"""What blocks for caches around register tiles cost, with the copies of panels that are made inside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod

from dlc.lowering.affine.cost.memory_costs import Levels, MemoryModel, PackedPanel
from dlc.lowering.affine.cost.references import Reference
from dlc.lowering.affine.cost.tile_costs import BandNestCost
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


@dataclass(frozen=True, eq=False)
class CacheBlocks:
    """The loops around a tile, and which references are copied inside how many of them."""

    levels: Levels
    panels: Mapping[Reference, PackedPanel]
    inner_sums: int
    """How many of the innermost loops carry sums that stay in the tile."""


@dataclass(frozen=True, eq=False)
class BlockedNestCost:
    """A band nest in register tiles of one shape, whose schedules are blocks for caches."""

    nest: BandNestCost
    tile: Tile
    model: MemoryModel

    @cached_property
    def _tile_cycles(self) -> float:
        """What all tiles take where nothing waits for memory."""
        return self.nest.work_cycles(self.tile) * policy().search.fused_ops * prod(self.nest.extents)

    def total(self, blocks: CacheBlocks, machine: Machine) -> float:
        """Cycles for all of the nest's iterations; infinite where a panel is too large for the second-level cache."""
        levels, extents = blocks.levels, self.model.extents_at(blocks.levels)
        for ref, panel in blocks.panels.items():
            if prod(ref.box(extents[panel.depth])) * ref.element_bytes > policy().blocks.largest_panel * machine.l2_bytes:
                return inf
        trips = [-(-extents[at][member] // size) for at, (member, size) in enumerate(levels)]
        entries = prod(trips[: len(levels) - blocks.inner_sums])
        sums = entries * (policy().cost.loop_entry + self.tile.body_copies)
        moved = self.model.cycles(levels, extents, blocks.panels)
        return (self._tile_cycles + sums + moved) * (1.0 + policy().search.panel_gain * len(blocks.panels))
