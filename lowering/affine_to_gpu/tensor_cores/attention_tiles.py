"""The tiles of attention on tensor cores, and what it costs in cycles: the cheapest of all that fit is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from dlc.lowering.affine.search.candidates import Candidate, search
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import Attention, NotFused
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, shapes_for
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import memory_cycles, plain_cycles, resident_blocks
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.lowering.policy import policy
from dlc.targets.machine import MATRICES, MATRIX_ROW_BYTES, REGISTER_BYTES, GpuMachine


@dataclass(frozen=True)
class AttentionTile:
    """What a block computes: `rows` queries, `warp_rows` of them in each warp, with `keys` keys and values at a time."""

    rows: int
    keys: int
    warp_rows: int

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.rows // self.warp_rows


@dataclass(frozen=True, eq=False)
class AttentionPanels:
    """What a block keeps in shared memory: its queries, a tile of keys, and one of values.

    Of a row of queries and keys `depth` elements are multiplied, and `width` of one of values: the sizes of heads, rounded up to
    steps of an instruction, and to the two fragments that `ldmatrix` reads at a time.
    """

    queries: Panel
    keys: Panel
    values: Panel
    depth: int
    width: int

    @classmethod
    def of(cls, attention: Attention, shape: MmaShape, tile: AttentionTile) -> AttentionPanels:
        """Those of a block."""
        scores, values = attention.scores, attention.values
        depth = _rounded(scores.sums.extent, shape.depth)
        width = _rounded(values.columns.extent, 2 * shape.columns)
        stored_depth, stored_width = (_stored(size, operand) for size, operand in ((depth, scores.rhs), (width, values.rhs)))
        return cls(
            _panel(scores.lhs, scores.rows, scores.sums, tile.rows, stored_depth),
            _panel(scores.rhs, scores.columns, scores.sums, tile.keys, stored_depth),
            _panel(values.rhs, values.columns, values.sums, stored_width, tile.keys),
            depth,
            width,
        )

    @property
    def all(self) -> tuple[Panel, Panel, Panel]:
        """In the order in which they lie in memory."""
        return self.queries, self.keys, self.values

    @property
    def bytes(self) -> int:
        """Bytes of all."""
        return sum(panel.bytes for panel in self.all)


def _rounded(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _stored(size: int, operand: Operand) -> int:
    """Elements of a row in shared memory: in whole pieces of four chunks, so that eight neighbouring chunks are copied to two
    pieces at most, which conflict two ways."""
    piece = MATRICES * MATRIX_ROW_BYTES // operand.bytes
    return _rounded(size, piece) if size > piece // 2 else size


def _panel(operand: Operand, axis: Axis, sums: Axis, side: int, depth: int) -> Panel:
    """Rows whole, or in pieces of the largest power of two that divides them, as the swizzle takes them."""
    panel = Panel.of(operand, axis, sums, side, depth, max(side, depth) * operand.bytes)
    return replace(panel, span=panel.shape[1] & -panel.shape[1])


def attention_tile(attention: Attention, facts: GpuMachine) -> tuple[MmaShape, AttentionTile]:
    """The instruction and the cheapest tile. Raises NotFused where none fits, or kernels for each step are as fast."""
    shapes = [shape for shape in shapes_for(attention.scores, facts, tf32=False) if not shape.of_warpgroup]
    if not shapes:
        raise NotFused(f"{facts.chip} has no mma.sync of {attention.scores.lhs.element}, or no cp.async")
    (shape,) = shapes
    tiles = _AttentionTiles(attention, shape, facts)
    best = search([lambda: (Candidate(tile, tiles.cycles(tile)) for tile in tiles.fitting())], lambda found: found)
    if best is None:
        sizes = f"{attention.scores.sums.extent} and {attention.values.columns.extent}"
        raise NotFused(f"no tile for heads of {sizes} elements fits registers and shared memory, by copies of 4 bytes or more")
    if best.cycles > policy().gpu.mma_gain * separate_cycles(attention, facts):
        raise NotFused("kernels of each step are estimated to be as fast")
    return shape, best.schedule


@dataclass(frozen=True, eq=False)
class _AttentionTiles:
    attention: Attention
    shape: MmaShape
    facts: GpuMachine

    def fitting(self) -> Iterator[AttentionTile]:
        """The tiles that fit a block and a grid, larger ones first."""
        choices = policy().gpu
        for rows, keys, warp_rows in product(choices.mma_block_sides, choices.mma_block_sides, choices.mma_warp_sides):
            tile = AttentionTile(rows, keys, warp_rows)
            if warp_rows <= rows and self._fits(tile):
                yield tile

    def blocks(self, tile: AttentionTile) -> int:
        """Blocks of one iteration of the batch."""
        return -(-self.attention.scores.rows.extent // tile.rows)

    def _fits(self, tile: AttentionTile) -> bool:
        panels = AttentionPanels.of(self.attention, self.shape, tile)
        threads = self._threads(tile)
        return (
            tile.warps <= policy().gpu.mma_most_warps
            and threads <= self.facts.most_threads
            and self._registers(tile, panels) <= policy().gpu.attention_registers
            and panels.bytes <= self.facts.most_shared_bytes
            and all(_is_even(panel, threads) for panel in panels.all)
            and self.attention.scores.batch.extent <= self.facts.most_blocks_y
            and self._resident(tile, panels) > 0
        )

    def _threads(self, tile: AttentionTile) -> int:
        return tile.warps * self.facts.warp_threads

    def _registers(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        """Registers of a thread: scores and results in f32, queries and weights as operands, addresses of the chunks that it copies
        in each step, and what is not known."""
        sums = tile.keys + panels.width
        operands = (panels.depth + tile.keys) * panels.queries.operand.bytes // REGISTER_BYTES
        copies = (panels.keys.bytes + panels.values.bytes) // MATRIX_ROW_BYTES // self._threads(tile)
        return policy().gpu.mma_registers + copies + tile.warp_rows * (sums + operands) // self.facts.warp_threads

    def _resident(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        return resident_blocks(self._threads(tile), self._registers(tile, panels), panels.bytes, self.facts)

    def cycles(self, tile: AttentionTile) -> float:
        """Cycles of the kernel beside its launch: its busiest multiprocessor's tensor cores and what its threads do with scores
        between the products, its shared memory and share of the L2 cache, or all memory."""
        choices, facts, panels = policy().gpu, self.facts, AttentionPanels.of(self.attention, self.shape, tile)
        blocks = self.blocks(tile) * self.attention.scores.batch.extent
        own = -(-blocks // facts.multiprocessors)
        together = min(own, self._resident(tile, panels))
        busy = min(1.0, together * tile.warps / facts.schedulers)
        scores = tile.rows * tile.keys
        multiplied = scores * (panels.depth + panels.width) / self.shape.rate
        copied = panels.keys.bytes + panels.values.bytes
        computed = scores * choices.score_instructions + copied / MATRIX_ROW_BYTES * choices.copy_instructions
        shared = (tile.warps + 1) * copied / facts.shared_bytes_per_cycle
        cached = copied * min(blocks, facts.multiprocessors) / facts.l2_bytes_per_cycle
        waiting = 2 * (choices.barrier_cycles + choices.memory_latency) / together
        step = max((multiplied + computed / facts.fma_per_cycle) / busy, shared, cached, waiting)
        return max(own * self._steps(tile) * step + 2 * choices.memory_latency, self._memory_cycles())

    def _steps(self, tile: AttentionTile) -> float:
        """Tiles of keys of a block, on average: it ends where all its queries have seen the last key."""
        rows, keys, lead = self.attention.scores.rows.extent, self.attention.scores.columns.extent, self.attention.lead
        if lead is None:
            return -(-keys // tile.keys)
        ends = (min(keys, (block + 1) * tile.rows + lead) for block in range(self.blocks(tile)))
        return sum(-(-max(end, 0) // tile.keys) for end in ends) / -(-rows // tile.rows)

    def _memory_cycles(self) -> float:
        """Cycles in which memory brings queries, keys and values once and takes the results."""
        scores, values = self.attention.scores, self.attention.values
        brought = scores.read_bytes + values.rhs.bytes * values.batch.extent * values.columns.extent * values.sums.extent
        return (brought + values.results * values.stored_bytes) / self.facts.memory_bytes_per_cycle


def _is_even(panel: Panel, threads: int) -> bool:
    """Whether `cp.async` copies the panel, as many chunks by each thread; or fewer chunks than there are threads."""
    count = panel.shape[0] * panel.shape[1] // panel.chunk if panel.chunk else 0
    return count > 0 and (count < threads or count % threads == 0)


def separate_cycles(attention: Attention, facts: GpuMachine) -> float:
    """The least cycles of a kernel each for scores, softmax and values: memory of the scores, and what products of f32 take.

    Scores are written once, read for the largest of a row, read again, replaced by their exponentials, and these are read."""
    scores = attention.scores
    size = scores.results * int(scores.total.type.width) // 8
    moved = memory_cycles(scores, facts) + 4 * size / facts.memory_bytes_per_cycle
    return moved + plain_cycles(attention.values, facts) + 2 * policy().gpu.launch_cycles
