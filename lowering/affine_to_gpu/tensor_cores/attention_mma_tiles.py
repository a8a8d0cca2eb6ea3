"""The tiles of attention by `mma.sync`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile, PanelTiles, rounded
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.lowering.policy import policy
from dlc.targets.machine import MATRICES, MATRIX_ROW_BYTES, REGISTER_BYTES


def mma_panels(attention: AttentionNest, shape: MmaShape, tile: AttentionTile) -> AttentionPanels:
    """Sizes of heads are rounded up to steps of an instruction, and to the two fragments that `ldmatrix` reads at a time."""
    scores, values = attention.scores, attention.values
    depth = rounded(scores.sums.extent, shape.depth)
    width = rounded(values.columns.extent, 2 * shape.columns)
    stored_depth, stored_width = (stored_elements(size, operand) for size, operand in ((depth, scores.rhs), (width, values.rhs)))
    return AttentionPanels(
        panel_of(scores.lhs, scores.rows, scores.sums, tile.rows, stored_depth),
        panel_of(scores.rhs, scores.columns, scores.sums, tile.keys, stored_depth),
        panel_of(values.rhs, values.columns, values.sums, stored_width, tile.keys),
        depth,
        width,
    )


def stored_elements(size: int, operand: Operand) -> int:
    """Elements of a row in shared memory: in whole pieces of four chunks, so that eight neighbouring chunks are copied to two
    pieces at most, which conflict two ways."""
    piece = MATRICES * MATRIX_ROW_BYTES // operand.bytes
    return rounded(size, piece) if size > piece // 2 else size


def panel_of(operand: Operand, axis: Axis, sums: Axis, side: int, depth: int) -> Panel:
    """Rows whole, or in pieces of the largest power of two that divides them, as the swizzle takes them."""
    panel = Panel.of(operand, axis, sums, side, depth, max(side, depth) * operand.bytes)
    return replace(panel, span=panel.shape[1] & -panel.shape[1])


@dataclass(frozen=True, eq=False)
class MmaAttentionTiles(PanelTiles):
    """Those of a block whose warps multiply by themselves."""

    shape: MmaShape

    def tiles(self) -> Iterator[AttentionTile]:
        choices = policy().gpu
        for rows, keys, warp_rows in product(choices.mma_block_sides, choices.mma_block_sides, choices.mma_warp_sides):
            if warp_rows <= rows:
                yield AttentionTile(rows, keys, warp_rows)

    def panels(self, tile: AttentionTile) -> AttentionPanels:
        return mma_panels(self.attention, self.shape, tile)

    def registers(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        """Scores and results in f32, queries and weights as operands, addresses of the chunks that a thread copies in each step,
        and what is not known."""
        sums = tile.keys + panels.width
        operands = (panels.depth + tile.keys) * MATRIX_ROW_BYTES * 2 // self.shape.depth // REGISTER_BYTES
        copies = panels.step_bytes // MATRIX_ROW_BYTES // self.threads(tile)
        return policy().gpu.mma_registers + copies + tile.warp_rows * (sums + operands) // self.facts.warp_threads

    def multiplied(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        return tile.rows * tile.keys * (panels.depth + panels.width) / self.shape.rate

    def read_bytes(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        return tile.warps * panels.step_bytes
