"""The tiles of attention by `wgmma`, whose panels TMA brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile, PanelTiles, rounded
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import barrier_bytes
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.lowering.affine_to_gpu.tensor_cores.tensor_maps import TensorMap
from dlc.lowering.policy import policy
from dlc.targets.machine import BARRIER_BYTES, MOST_THREAD_REGISTERS, REGISTER_BYTES, REGISTER_STEP, SWIZZLE_BYTES


def warpgroup_panels(attention: AttentionNest, shape: MmaShape, tile: AttentionTile) -> AttentionPanels:
    """Sizes of heads are rounded up to steps of an instruction."""
    scores, values = attention.scores, attention.values
    depth, width = (rounded(size, shape.depth) for size in (scores.sums.extent, values.columns.extent))
    return AttentionPanels(
        _panel(scores.lhs, scores.rows, scores.sums, tile.rows, depth),
        _panel(scores.rhs, scores.columns, scores.sums, tile.keys, depth),
        _panel(values.rhs, values.columns, values.sums, width, tile.keys),
        depth,
        width,
        stages=tile.stages,
    )


def _panel(operand: Operand, axis: Axis, sums: Axis, side: int, depth: int) -> Panel:
    """Rows in pieces of the largest size that divides them and that `wgmma` has a swizzle of."""
    panel = Panel.of(operand, axis, sums, side, depth, max(side, depth) * operand.bytes)
    length = panel.shape[1]
    return replace(panel, span=min(length & -length, SWIZZLE_BYTES[0] // operand.bytes))


def tensor_maps_of(attention: AttentionNest, panels: AttentionPanels) -> list[TensorMap]:
    """Of queries, keys and values; none where TMA cannot bring all."""
    scores, values = attention.scores.batch, attention.values.batch
    parts = zip(panels.copied, (scores, scores, values), strict=True)
    found = [described for panel, batch in parts if (described := TensorMap.of(panel, batch))]
    return found if len(found) == len(panels.copied) else []


@dataclass(frozen=True, eq=False)
class WarpgroupAttentionTiles(PanelTiles):
    """Those of a block whose warpgroups multiply together, 64 queries each, beside one that brings the panels."""

    shape: MmaShape

    def tiles(self) -> Iterator[AttentionTile]:
        choices = policy().gpu
        for sides in product(choices.warpgroup_rows, choices.warpgroup_columns, choices.mma_stages):
            rows, keys, stages = sides
            yield AttentionTile(rows, keys, self.shape.rows, stages)

    def panels(self, tile: AttentionTile) -> AttentionPanels:
        return warpgroup_panels(self.attention, self.shape, tile)

    def threads(self, tile: AttentionTile) -> int:
        return super().threads(tile) + self._producers

    @property
    def _producers(self) -> int:
        """Threads of a warpgroup, as only a whole one gives registers away."""
        return self.shape.warps * self.facts.warp_threads

    def register_shares(self, tile: AttentionTile) -> tuple[int, int]:
        """Registers that a thread of the producer keeps, and that one of the others has then, of what a block begins with."""
        few, equal = policy().gpu.producer_registers, self._equal(tile)
        many = equal + (equal - few) * self._producers // (self.threads(tile) - self._producers)
        return few, min(MOST_THREAD_REGISTERS, many) // REGISTER_STEP * REGISTER_STEP

    def _equal(self, tile: AttentionTile) -> int:
        """Registers that each thread of the only block of a multiprocessor may have."""
        share = self.facts.registers_per_multiprocessor // self.threads(tile)
        return min(MOST_THREAD_REGISTERS, share) // REGISTER_STEP * REGISTER_STEP

    def most_registers(self, tile: AttentionTile) -> int:
        return self.register_shares(tile)[1]

    def allocated(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        return self._equal(tile)

    def registers(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        """Scores and results in f32, weights as operands, and what is not known."""
        weights = tile.keys * panels.queries.operand.bytes // REGISTER_BYTES
        own = tile.warp_rows * (tile.keys + panels.width + weights) // self.facts.warp_threads
        return policy().gpu.mma_registers + own

    def is_copied(self, tile: AttentionTile, panels: AttentionPanels) -> bool:
        """Whether TMA copies all panels, in the orders in which `wgmma` reads them; its left operand lies along the sum."""
        return panels.queries.along_sums and bool(tensor_maps_of(self.attention, panels))

    def shared_bytes(self, panels: AttentionPanels) -> int:
        """With barriers: one for queries, and those of the stages of keys and of values."""
        return panels.bytes + BARRIER_BYTES + 2 * barrier_bytes(panels.stages)

    def dynamic_bytes(self, tile: AttentionTile) -> int:
        return self.shared_bytes(self.panels(tile))

    def multiplied(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        return tile.rows * tile.keys * (panels.depth + panels.width) / self.shape.rate

    def computed(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Products run while threads compute exponentials."""
        others = tile.rows * tile.keys * policy().gpu.score_instructions / self.facts.fma_per_cycle
        return max(self.multiplied(tile, panels), others)

    def read_bytes(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        warpgroups = tile.warps // self.shape.warps
        return warpgroups * panels.step_bytes + panels.queries.bytes
