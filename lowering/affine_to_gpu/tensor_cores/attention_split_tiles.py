"""The tiles of attention of few queries, whose keys are split over the warps of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionTile, AttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import resident_blocks
from dlc.lowering.policy import policy
from dlc.targets.machine import REGISTER_BYTES, VECTOR_BYTES


@dataclass(frozen=True)
class HeadLanes:
    """How the lanes of a warp lie along a head: `lanes` of them have `chunk` neighbours each, of `pieces` parts of the head."""

    chunk: int
    lanes: int
    pieces: int

    @property
    def step(self) -> int:
        """Elements of a part."""
        return self.chunk * self.lanes

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        return self.chunk * self.pieces


class SplitAttentionTiles(AttentionTiles):
    """Those of a block that has all queries of an iteration of the batch, and of which some lanes have a key together."""

    def fitting(self) -> Iterator[AttentionTile]:
        rows, keys = self.attention.scores.rows.extent, self.attention.scores.columns.extent
        warps = self.facts.block_threads // self.facts.warp_threads
        while warps > 1 and self.warp_keys * (warps // 2) >= keys:
            warps //= 2
        tile = AttentionTile(rows, warps * self.warp_keys, rows)
        if self._registers(tile) <= policy().gpu.attention_registers and self.shared_bytes(tile) <= self.facts.shared_bytes:
            yield tile

    @property
    def groups(self) -> int:
        """Keys that a warp has side by side."""
        return self.facts.warp_threads // self.heads[0].lanes

    @property
    def warp_keys(self) -> int:
        """Keys that a warp has at a time."""
        return self.groups * policy().gpu.attention_thread_keys

    def warps(self, tile: AttentionTile) -> int:
        """Warps of a block."""
        return tile.keys // self.warp_keys

    def threads(self, tile: AttentionTile) -> int:
        return self.warps(tile) * self.facts.warp_threads

    @property
    def heads(self) -> tuple[HeadLanes, HeadLanes]:
        """Lanes along a row of queries and keys, and along one of values; as many of both."""
        scores, values = self.attention.scores, self.attention.values
        chunk = VECTOR_BYTES // scores.rhs.bytes
        while not (scores.sums.aligned(scores.rhs, chunk) and values.columns.aligned(values.rhs, chunk)):
            chunk //= 2
        sizes, lanes = (scores.sums.extent, values.columns.extent), 1
        while lanes < self.facts.warp_threads and lanes * chunk < max(sizes):
            lanes *= 2
        first, second = (HeadLanes(chunk, lanes, -(-size // (lanes * chunk))) for size in sizes)
        return first, second

    def shared_shape(self, tile: AttentionTile) -> list[int]:
        """Results of each group of lanes and row, and behind them its largest score and sum."""
        return [self.warps(tile) * self.groups, tile.rows, self.attention.values.columns.extent + 2]

    def shared_bytes(self, tile: AttentionTile) -> int:
        """Shared memory of a block."""
        groups, rows, elements = self.shared_shape(tile)
        return groups * rows * elements * REGISTER_BYTES

    def dynamic_bytes(self, tile: AttentionTile) -> int:
        return 0

    def _registers(self, tile: AttentionTile) -> int:
        """Queries, results and scores of all rows, and what is loaded of keys and values."""
        (queries, values), keys = self.heads, policy().gpu.attention_thread_keys
        own = tile.rows * (queries.elements + values.elements + keys + 2)
        return policy().gpu.mma_registers + own + keys * (queries.elements + values.elements)

    def cycles(self, tile: AttentionTile) -> float:
        """Cycles of the kernel beside its launch: what a warp waits for in each step, instructions of all warps, its share of the
        L2 cache, or all memory."""
        choices, facts, scores = policy().gpu, self.facts, self.attention.scores
        (queries, values), keys = self.heads, choices.attention_thread_keys
        own = -(-scores.batch.extent // facts.multiprocessors)
        together = min(own, resident_blocks(self.threads(tile), self._registers(tile), self.shared_bytes(tile), facts))
        exchanged = 2 * (queries.lanes.bit_length() - 1)
        each = queries.elements + values.elements + exchanged + choices.score_instructions
        issued = self.warps(tile) * tile.rows * keys * each / facts.schedulers
        brought = tile.keys * (queries.step * queries.pieces + values.step * values.pieces) * scores.rhs.bytes
        cached = brought * min(scores.batch.extent, facts.multiprocessors) / facts.l2_bytes_per_cycle
        step = max(issued, cached, (choices.memory_latency + issued) / together)
        steps = -(-scores.columns.extent // tile.keys)
        return max(own * steps * step + 2 * choices.memory_latency, self.memory_cycles())
