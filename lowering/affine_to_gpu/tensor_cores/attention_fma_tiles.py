"""The tiles of attention by multiply-adds of f32, for elements that tensor cores would round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from dlc.lowering.affine_to_gpu.tensor_cores.attention_mma_tiles import panel_of, stored_elements
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionPanels, AttentionTile, PanelTiles, rounded
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.lowering.policy import policy
from dlc.targets.machine import MATRIX_ROW_BYTES, GpuMachine


def row_lanes(facts: GpuMachine) -> int:
    """Lanes that have a row together: half a warp, so that what both halves read of a panel are two rows."""
    return facts.warp_threads // 2


def fma_panels(attention: AttentionNest, tile: AttentionTile, facts: GpuMachine) -> AttentionPanels:
    """Queries, keys and weights lie along their sums, values along the axis of the results; a thread reads chunks of 16 bytes of
    each. Sizes of heads are rounded up to these, and results to what the lanes of a row have at a time."""
    scores, values, lanes = attention.scores, attention.values, row_lanes(facts)
    chunk = MATRIX_ROW_BYTES // scores.lhs.bytes
    depth, width = rounded(scores.sums.extent, chunk), rounded(values.columns.extent, lanes)
    width = rounded(width, lanes * chunk) if width > lanes * 2 else width
    stored = stored_elements(depth, scores.rhs)
    weight = Panel(values.lhs, scores.rows, scores.columns, tile.rows, tile.keys, True, chunk, tile.keys)
    return AttentionPanels(
        panel_of(scores.lhs, scores.rows, scores.sums, tile.rows, stored),
        panel_of(scores.rhs, scores.columns, scores.sums, tile.keys, stored),
        values_panel(attention, width, tile.keys),
        depth,
        width,
        weight,
    )


def values_panel(attention: AttentionNest, width: int, keys: int) -> Panel:
    """What a block keeps of so many keys' values, along the axis of the results."""
    values = attention.values
    panel = panel_of(values.rhs, values.columns, values.sums, width, keys)
    return replace(panel, along_sums=False, chunk=_chunk(panel), span=width & -width)


def _chunk(panel: Panel) -> int:
    """Neighbours along the axis that `cp.async` copies at a time, a power of two."""
    chunk = MATRIX_ROW_BYTES // panel.operand.bytes
    while not panel.axis.aligned(panel.operand, chunk):
        chunk //= 2
    return chunk


class FmaAttentionTiles(PanelTiles):
    """Those of a block of which each thread has some rows, and every 16th key or some neighbours of each row of values."""

    def tiles(self) -> Iterator[AttentionTile]:
        choices, halves = policy().gpu, self.facts.warp_threads // row_lanes(self.facts)
        for rows, keys, thread_rows in product(choices.mma_block_sides, choices.mma_block_sides, choices.attention_thread_rows):
            if halves * thread_rows <= rows:
                yield AttentionTile(rows, keys, halves * thread_rows)

    def panels(self, tile: AttentionTile) -> AttentionPanels:
        return fma_panels(self.attention, tile, self.facts)

    def _own(self, tile: AttentionTile, panels: AttentionPanels) -> tuple[int, int, int]:
        """Rows of a thread, and its keys and results of each of them."""
        lanes = row_lanes(self.facts)
        return tile.warp_rows * lanes // self.facts.warp_threads, tile.keys // lanes, panels.width // lanes

    def registers(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        """Scores and results, chunks of queries and keys, the state of rows, and addresses."""
        rows, keys, results = self._own(tile, panels)
        chunks = (rows + keys) * MATRIX_ROW_BYTES // panels.keys.operand.bytes
        return policy().gpu.mma_registers // 2 + rows * (keys + results + 2) + chunks

    def multiplied(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """A warp issues one instruction in a cycle, multiply-adds and loads alike."""
        products = tile.rows * tile.keys * (panels.depth + panels.width) / self.facts.fma_per_cycle
        return products + self._loads(tile, panels) / self.facts.schedulers

    def _loads(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Loads of chunks by all warps."""
        chunk = MATRIX_ROW_BYTES // panels.keys.operand.bytes
        rows, keys, results = self._own(tile, panels)
        return tile.warps * (panels.depth / chunk * (rows + keys) + tile.keys / chunk * (rows + max(chunk, results)))

    def read_bytes(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Lanes of a row read the same chunk of queries and weights, and different ones of keys and values."""
        size, lanes = panels.keys.operand.bytes, row_lanes(self.facts)
        rows, keys, results = self._own(tile, panels)
        line = self.facts.shared_banks * self.facts.bank_bytes
        chunk = MATRIX_ROW_BYTES // size
        of_keys = panels.depth / chunk * (rows * line + keys * lanes * MATRIX_ROW_BYTES)
        of_values = tile.keys * results * lanes * size + tile.keys / chunk * rows * line
        stored = tile.warp_rows * tile.keys * size
        return tile.warps * (of_keys + of_values + stored)
