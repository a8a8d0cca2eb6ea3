"""The tiles of a matrix product without tensor cores, and what it costs in cycles: the cheapest of all that fit is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from dlc._mlir import ir
from dlc.lowering.affine.search.candidates import Candidate, search
from dlc.lowering.affine_to_gpu.simt.simt_panels import SimtPanel, vector_elements
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import adding_cycles, grid_of, memory_cycles, resident_blocks
from dlc.lowering.policy import policy
from dlc.targets.machine import MOST_THREAD_REGISTERS, REGISTER_BYTES, VECTOR_READ_PASSES, GpuMachine


@dataclass(frozen=True)
class SimtTile:
    """What a block computes (`rows` x `columns`, `depth` products at a time), what each of its threads, and how many tiles of the
    sum are in shared memory at a time."""

    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int
    stages: int

    @property
    def grid(self) -> tuple[int, int]:
        """Threads of a block along rows and columns."""
        return self.rows // self.thread_rows, self.columns // self.thread_columns

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.grid)

    def lanes(self, warp_threads: int) -> tuple[int, int] | None:
        """Lanes of a warp along rows and columns, which are nearly as many; None where warps do not cover the block so."""
        down, across = self.grid
        short = 1 << (warp_threads.bit_length() - 1) // 2
        found = [(short, warp_threads // short), (warp_threads // short, short)]
        return next((lanes for lanes in found if down % lanes[0] == 0 and across % lanes[1] == 0), None)

    def registers(self, element: int) -> int:
        """Registers of a thread for sums and for operands of two steps: those of the next one are read while one is multiplied."""
        numbers = self.thread_rows * self.thread_columns + 2 * (self.thread_rows + self.thread_columns)
        return numbers * element // REGISTER_BYTES


def panels_of(contraction: Contraction, tile: SimtTile) -> tuple[SimtPanel, SimtPanel]:
    """What a block keeps of both operands, the left one first."""
    sums = contraction.sums
    return (
        SimtPanel.of_tile(contraction.lhs, contraction.rows, sums, tile.rows, tile.depth),
        SimtPanel.of_tile(contraction.rhs, contraction.columns, sums, tile.columns, tile.depth),
    )


def shared_bytes(contraction: Contraction, tile: SimtTile) -> int:
    """Shared memory of a block."""
    return sum(tile.stages * prod(panel.stored_shape) * panel.operand.bytes for panel in panels_of(contraction, tile))


def takes(contraction: Contraction, facts: GpuMachine) -> bool:
    """Whether a kernel of this kind may compute it: floats that `cp.async` copies one by one, and more results along both axes than
    a thread has, so that threads share what they read."""
    element = contraction.lhs.element
    is_exact = isinstance(element, ir.FloatType) and element == contraction.rhs.element == contraction.total.type
    least = min(policy().gpu.simt_thread_sides, default=0)
    is_matrix = min(contraction.rows.extent, contraction.columns.extent) > 2 * least
    return facts.has_async_copies and is_exact and is_matrix and contraction.lhs.bytes >= REGISTER_BYTES


def best_tile(contraction: Contraction, facts: GpuMachine) -> SimtTile | None:
    """The cheapest tile; None where none fits."""
    if not takes(contraction, facts):
        return None
    tiles = _Tiles(contraction, facts)
    best = search([lambda: (Candidate(tile, tiles.cycles(tile)) for tile in tiles.fitting())], lambda found: found)
    return best.schedule if best else None


def best_parts(contraction: Contraction, allowed: Sequence[int], facts: GpuMachine) -> int:
    """Into how many of the `allowed` parts the sums are best split between blocks; 1 for not at all."""
    found = _Tiles(contraction, facts)
    tiles = list(found.fitting()) if takes(contraction, facts) else []
    if not tiles:
        return 1
    costs = {parts: min(found.cycles(tile, parts) for tile in tiles) for parts in (1, *allowed)}
    costs |= {parts: costs[parts] + adding_cycles(contraction, facts, parts) for parts in allowed}
    return min(sorted(costs), key=lambda parts: costs[parts])


@dataclass(frozen=True, eq=False)
class _Tiles:
    contraction: Contraction
    facts: GpuMachine

    def fitting(self) -> Iterator[SimtTile]:
        """The tiles that fit a block and a grid, larger ones first."""
        choices = policy().gpu
        blocks, threads = choices.simt_block_sides, choices.simt_thread_sides
        for numbers in product(blocks, blocks, choices.simt_depths, threads, threads, choices.mma_stages):
            tile = SimtTile(*numbers)
            if self._fits(tile):
                yield tile

    @cached_property
    def _vector(self) -> int:
        return vector_elements(self.contraction.lhs)

    def _fits(self, tile: SimtTile) -> bool:
        facts, warps = self.facts, tile.threads // self.facts.warp_threads
        return (
            tile.lanes(facts.warp_threads) is not None
            and warps <= policy().gpu.mma_most_warps
            and tile.thread_rows % self._vector == tile.thread_columns % self._vector == 0
            and shared_bytes(self.contraction, tile) <= facts.most_shared_bytes
            and max(grid_of(self.contraction, tile)[1:]) <= facts.most_blocks_y
            and self._registers(tile) <= MOST_THREAD_REGISTERS
            and self._resident(tile) > 0
        )

    def _registers(self, tile: SimtTile) -> int:
        """Registers of a thread."""
        return tile.registers(self.contraction.lhs.bytes) + policy().gpu.simt_registers

    def _resident(self, tile: SimtTile) -> int:
        """Blocks that a multiprocessor holds at a time."""
        return resident_blocks(tile.threads, self._registers(tile), shared_bytes(self.contraction, tile), self.facts)

    def cycles(self, tile: SimtTile, parts: int = 1) -> float:
        """Cycles of the kernel beside its launch, as those of kernels on tensor cores are counted: its busiest multiprocessor's
        instructions, shared memory and share of the L2 cache, or all memory. A block sums one of `parts` of a result's products."""
        choices, facts = policy().gpu, self.facts
        blocks = prod(grid_of(self.contraction, tile)) * parts
        steps = -(-self.contraction.sums.extent // (parts * tile.depth))
        own = -(-blocks // facts.multiprocessors)
        together = min(own, self._resident(tile))
        copied = (tile.rows + tile.columns) * tile.depth * self.contraction.lhs.bytes
        cached = copied * min(blocks, facts.multiprocessors) / facts.l2_bytes_per_cycle
        arriving = choices.memory_latency / (tile.stages - 1) / together
        step = max(self._issued(tile, together), self._read(tile), cached, arriving) + choices.barrier_cycles / together
        results = tile.rows * tile.columns * self.contraction.written_bytes(parts) / parts
        stored = results * facts.multiprocessors / facts.memory_bytes_per_cycle
        return max(own * (steps * step + stored) + 2 * choices.memory_latency, memory_cycles(self.contraction, facts, parts))

    def _issued(self, tile: SimtTile, together: int) -> float:
        """Cycles in which the schedulers issue the instructions of a step of one block, of `together` on the multiprocessor."""
        facts, warps = self.facts, tile.threads // self.facts.warp_threads
        busy = min(1.0, together * warps / facts.schedulers)
        products = tile.thread_rows * tile.thread_columns * facts.schedulers * facts.warp_threads / facts.fma_per_cycle
        reads = (tile.thread_rows + tile.thread_columns) / self._vector
        copies = sum(panel.copies(tile.threads, facts) for panel in panels_of(self.contraction, tile))
        instructions = tile.depth * (products + reads) + copies * policy().gpu.copy_instructions
        return warps * instructions / (facts.schedulers * busy)

    def _read(self, tile: SimtTile) -> float:
        """Cycles in which shared memory gives a block the operands of a step."""
        warps = tile.threads // self.facts.warp_threads
        vectors = (tile.thread_rows + tile.thread_columns) // self._vector
        return warps * tile.depth * vectors * VECTOR_READ_PASSES
