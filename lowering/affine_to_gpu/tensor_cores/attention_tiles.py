"""The tiles of attention, what a block keeps of them, and what they cost in cycles: the cheapest of all that fit is taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import memory_cycles, plain_cycles, resident_blocks
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.lowering.policy import policy
from dlc.targets.machine import MATRIX_ROW_BYTES, GpuMachine


@dataclass(frozen=True)
class AttentionTile:
    """What a block computes: `rows` queries, `warp_rows` of them in each warp, with `keys` keys and values at a time; `stages` such
    tiles are in shared memory."""

    rows: int
    keys: int
    warp_rows: int
    stages: int = 1

    @property
    def warps(self) -> int:
        """Warps of a block that compute."""
        return self.rows // self.warp_rows


@dataclass(frozen=True, eq=False)
class AttentionPanels:
    """What a block keeps in shared memory: its queries, tiles of keys and of values, and its weights where they leave registers.

    Of a row of queries and keys `depth` elements are multiplied, and `width` of one of values: the sizes of heads, rounded up to
    what an instruction or a thread takes. There are `stages` tiles of keys and of values.
    """

    queries: Panel
    keys: Panel
    values: Panel
    depth: int
    width: int
    weights: Panel | None = None
    stages: int = 1

    @property
    def copied(self) -> tuple[Panel, Panel, Panel]:
        """In the order in which they lie in memory."""
        return self.queries, self.keys, self.values

    @property
    def all(self) -> tuple[Panel, ...]:
        """In the order in which they lie in memory."""
        return self.copied if self.weights is None else (*self.copied, self.weights)

    @property
    def bytes(self) -> int:
        """Bytes of all."""
        return sum(panel.bytes for panel in self.all) + (self.stages - 1) * self.step_bytes

    @property
    def step_bytes(self) -> int:
        """Bytes that are copied in each step."""
        return self.keys.bytes + self.values.bytes


def rounded(number: int, multiple: int) -> int:
    """The least multiple that is no smaller than `number`."""
    return -(-number // multiple) * multiple


@dataclass(frozen=True, eq=False)
class AttentionTiles(ABC):
    """The tiles of one kind of kernel for an attention."""

    attention: AttentionNest
    facts: GpuMachine

    @abstractmethod
    def fitting(self) -> Iterator[AttentionTile]:
        """The tiles that fit a block and a grid, larger ones first."""

    @abstractmethod
    def cycles(self, tile: AttentionTile) -> float:
        """Cycles of the kernel beside its launch."""

    @abstractmethod
    def dynamic_bytes(self, tile: AttentionTile) -> int:
        """Dynamic shared memory of a block; 0 where what it has without asking the driver suffices."""

    def threads(self, tile: AttentionTile) -> int:
        """Threads of a block."""
        return tile.warps * self.facts.warp_threads

    def blocks(self, tile: AttentionTile) -> int:
        """Blocks of one iteration of the batch."""
        return -(-self.attention.scores.rows.extent // tile.rows)

    def memory_cycles(self) -> float:
        """Cycles in which memory brings queries, keys and values once and takes the results."""
        scores, values = self.attention.scores, self.attention.values
        brought = scores.read_bytes + values.rhs.bytes * values.batch.extent * values.columns.extent * values.sums.extent
        return (brought + values.results * values.stored_bytes) / self.facts.memory_bytes_per_cycle


class PanelTiles(AttentionTiles):
    """Those of kernels that multiply panels in shared memory."""

    @abstractmethod
    def tiles(self) -> Iterator[AttentionTile]:
        """Tiles that may fit, larger ones first."""

    @abstractmethod
    def panels(self, tile: AttentionTile) -> AttentionPanels:
        """What a block keeps in shared memory."""

    @abstractmethod
    def registers(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        """Registers of a thread."""

    @abstractmethod
    def multiplied(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Cycles of the products of a step where all schedulers of a multiprocessor are busy."""

    @abstractmethod
    def read_bytes(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Bytes that go through shared memory in a step, as it moves them."""

    def shared_bytes(self, panels: AttentionPanels) -> int:
        """Shared memory of a block."""
        return panels.bytes

    def dynamic_bytes(self, tile: AttentionTile) -> int:
        size = self.panels(tile).bytes
        return size if size > self.facts.shared_bytes else 0

    def fitting(self) -> Iterator[AttentionTile]:
        return (tile for tile in self.tiles() if self._fits(tile))

    def _fits(self, tile: AttentionTile) -> bool:
        panels = self.panels(tile)
        return (
            tile.warps <= policy().gpu.mma_most_warps
            and self.threads(tile) <= self.facts.most_threads
            and self.registers(tile, panels) <= self.most_registers(tile)
            and self.shared_bytes(panels) <= self.facts.most_shared_bytes
            and self.is_copied(tile, panels)
            and self.attention.scores.batch.extent <= self.facts.most_blocks_y
            and self._resident(tile, panels) > 0
        )

    def is_copied(self, tile: AttentionTile, panels: AttentionPanels) -> bool:
        """Whether `cp.async` copies all panels, as many chunks by each thread; or fewer chunks than there are threads."""
        return all(_is_even(panel, self.threads(tile)) for panel in panels.copied)

    def most_registers(self, tile: AttentionTile) -> int:
        """What a thread may have of registers."""
        return policy().gpu.attention_registers

    def allocated(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        """Registers that each thread of a block begins with."""
        return self.registers(tile, panels)

    def _resident(self, tile: AttentionTile, panels: AttentionPanels) -> int:
        return resident_blocks(self.threads(tile), self.allocated(tile, panels), panels.bytes, self.facts)

    def cycles(self, tile: AttentionTile) -> float:
        """Cycles of the kernel beside its launch: its busiest multiprocessor's products and what its threads do with scores
        between these, its shared memory and share of the L2 cache, or all memory."""
        choices, facts, panels = policy().gpu, self.facts, self.panels(tile)
        blocks = self.blocks(tile) * self.attention.scores.batch.extent
        own = -(-blocks // facts.multiprocessors)
        together = min(own, self._resident(tile, panels))
        busy = min(1.0, together * tile.warps / facts.schedulers)
        shared = (panels.step_bytes + self.read_bytes(tile, panels)) / facts.shared_bytes_per_cycle
        cached = panels.step_bytes * min(blocks, facts.multiprocessors) / facts.l2_bytes_per_cycle
        waiting = 2 * (choices.barrier_cycles + choices.memory_latency) / (together * panels.stages)
        step = max(self.computed(tile, panels) / busy, shared, cached, waiting)
        return max(own * self._steps(tile) * step + 2 * choices.memory_latency, self.memory_cycles())

    def computed(self, tile: AttentionTile, panels: AttentionPanels) -> float:
        """Cycles of a step's instructions: products, what is done to scores, and copies."""
        choices = policy().gpu
        others = tile.rows * tile.keys * choices.score_instructions
        others += panels.step_bytes / MATRIX_ROW_BYTES * choices.copy_instructions
        return self.multiplied(tile, panels) + others / self.facts.fma_per_cycle

    def _steps(self, tile: AttentionTile) -> float:
        """Tiles of keys of a block, on average: it ends where all its queries have seen the last key."""
        rows, keys, lead = self.attention.scores.rows.extent, self.attention.scores.columns.extent, self.attention.lead
        if lead is None:
            return -(-keys // tile.keys)
        ends = (min(keys, (block + 1) * tile.rows + lead) for block in range(self.blocks(tile)))
        return sum(-(-max(end, 0) // tile.keys) for end in ends) / -(-rows // tile.rows)


def _is_even(panel: Panel, threads: int) -> bool:
    count = panel.shape[0] * panel.shape[1] // panel.chunk if panel.chunk else 0
    return count > 0 and (count < threads or count % threads == 0)


def separate_cycles(attention: AttentionNest, facts: GpuMachine) -> float:
    """The least cycles of a kernel each for scores, softmax and values: memory of the scores, and what products of f32 take.

    Scores are written once, read for the largest of a row, read again, replaced by their exponentials, and these are read."""
    scores = attention.scores
    size = scores.results * int(scores.total.type.width) // 8
    is_wide = int(attention.element.width) == int(scores.total.type.width)
    made = plain_cycles(scores, facts) if is_wide else memory_cycles(scores, facts)
    return made + 4 * size / facts.memory_bytes_per_cycle + plain_cycles(attention.values, facts) + 2 * policy().gpu.launch_cycles
