"""Attention in f32 whose products are those of bf16, where `dl.precision` allows it: panels stay f32, fragments are rounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.tensor_cores.attention_fma_tiles import values_panel
from dlc.lowering.affine_to_gpu.tensor_cores.attention_mma_kernels import MmaAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_mma_tiles import MmaAttentionTiles, panel_of
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile, rounded
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.rounded_fragments import RoundedLoads
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import PanelCopy
from dlc.targets.machine import MATRIX_ROW_BYTES, GpuMachine


def rounded_shapes(attention: AttentionNest, facts: GpuMachine) -> Iterator[MmaShape]:
    """The products of bf16 for elements of f32."""
    narrow = int(ir.BF16Type.get().width) // 8
    shape = MmaShape("bf16", 2 * MATRIX_ROW_BYTES // narrow, facts.tensor_rates.bf16)
    if shape.name in facts.tensor_shapes and shape.rate and facts.has_async_copies and attention.scores.lhs.bytes > narrow:
        yield shape


@dataclass(frozen=True, eq=False)
class RoundedAttentionTiles(MmaAttentionTiles):
    """Those of a block whose panels hold f32."""

    def panels(self, tile: AttentionTile) -> AttentionPanels:
        scores, values = self.attention.scores, self.attention.values
        depth, width = rounded(scores.sums.extent, self.shape.depth), rounded(values.columns.extent, 2 * self.shape.columns)
        return AttentionPanels(
            panel_of(scores.lhs, scores.rows, scores.sums, tile.rows, depth),
            panel_of(scores.rhs, scores.columns, scores.sums, tile.keys, depth),
            values_panel(self.attention, width, tile.keys),
            depth,
            width,
        )

    def multiplied(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """With a load, and half an instruction to round, for each two elements of keys and each one of values."""
        loads = tile.warps * tile.keys * (panels.depth + 2 * panels.width) // 2
        return super().multiplied(tile, panels) + 2 * loads / self.facts.fma_per_cycle

    def read_bytes(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Loads of two neighbours of keys meet in banks two by two."""
        return tile.warps * (2 * panels.keys.bytes + panels.values.bytes)


@dataclass(eq=False)
class RoundedAttention(MmaAttention):
    """The kernel of `mma.sync` on fragments of bf16; results stay f32."""

    @property
    def _multiplied(self) -> ir.Type:
        return ir.BF16Type.get()

    def _loads(self, copy: PanelCopy, first: ir.AffineExpr) -> FragmentLoads:
        return RoundedLoads(copy.panel, self.shape, copy.target, self.extents, self._lane, first, self._multiplied)
