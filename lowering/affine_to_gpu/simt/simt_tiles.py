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


def shared_bytes(tile: SimtTile, panels: Sequence[SimtPanel]) -> int:
    """Shared memory of a block."""
    return sum(tile.stages * prod(panel.stored_shape) * panel.operand.bytes for panel in panels)


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
    costs = _Costs(contraction, facts)
    best = search([lambda: (Candidate(one.tile, costs.cycles(one)) for one in costs.fitting())], lambda found: found)
    return best.schedule if best else None


def best_parts(contraction: Contraction, allowed: Sequence[int], facts: GpuMachine) -> int:
    """Into how many of the `allowed` parts the sums are best split between blocks; 1 for not at all."""
    found = _Costs(contraction, facts)
    tiles = list(found.fitting()) if takes(contraction, facts) else []
    if not tiles:
        return 1
    costs = {parts: min(found.cycles(one, parts) for one in tiles) for parts in (1, *allowed)}
    costs |= {parts: costs[parts] + adding_cycles(contraction, facts, parts) for parts in allowed}
    return min(sorted(costs), key=lambda parts: costs[parts])


@dataclass(frozen=True)
class _Fitting:
    """A tile, how many of its blocks a multiprocessor holds at a time, and cycles in which a scheduler issues a warp's step."""

    tile: SimtTile
    resident: int
    issued: float


@dataclass(frozen=True, eq=False)
class _Costs:
    """What tiles of a contraction cost."""

    contraction: Contraction
    facts: GpuMachine

    def fitting(self) -> Iterator[_Fitting]:
        """The tiles that fit a block and a grid, larger ones first."""
        choices = policy().gpu
        blocks, threads = choices.simt_block_sides, choices.simt_thread_sides
        for rows, columns, depth in product(blocks, blocks, choices.simt_depths):
            panels = panels_of(self.contraction, SimtTile(rows, columns, depth, 1, 1, 1))
            for numbers in product(threads, threads, choices.simt_stages):
                tile = SimtTile(rows, columns, depth, *numbers)
                resident = self._resident(tile, panels) if self._fits(tile) else 0
                if resident:
                    yield _Fitting(tile, resident, self._issued(tile, panels))

    @cached_property
    def _vector(self) -> int:
        return vector_elements(self.contraction.lhs)

    def _fits(self, tile: SimtTile) -> bool:
        facts = self.facts
        return (
            tile.lanes(facts.warp_threads) is not None
            and tile.threads <= policy().gpu.mma_most_warps * facts.warp_threads
            and tile.thread_rows % self._vector == tile.thread_columns % self._vector == 0
            and max(grid_of(self.contraction, tile)[1:]) <= facts.most_blocks_y
        )

    def _resident(self, tile: SimtTile, panels: Sequence[SimtPanel]) -> int:
        """Blocks that a multiprocessor holds at a time; 0 for what is too large."""
        element, shared = self.contraction.lhs.bytes, shared_bytes(tile, panels)
        registers = tile.registers(element) + policy().gpu.simt_registers
        if element == REGISTER_BYTES and not self.contraction.is_open:  # `convert-kernels-to-nvvm` has `ptxas` keep to that
            registers = min(registers, policy().gpu.tile_registers)
        fits = registers <= MOST_THREAD_REGISTERS and shared <= self.facts.most_shared_bytes
        return resident_blocks(tile.threads, registers, shared, self.facts) if fits else 0

    def _issued(self, tile: SimtTile, panels: Sequence[SimtPanel]) -> float:
        """Cycles in which a scheduler issues what a warp does in a step; a read takes as many as it has passes."""
        facts = self.facts
        products = tile.thread_rows * tile.thread_columns * facts.schedulers * facts.warp_threads / facts.fma_per_cycle
        reads = (tile.thread_rows + tile.thread_columns) // self._vector * VECTOR_READ_PASSES
        copies = sum(panel.copies(tile.threads, facts) for panel in panels)
        return tile.depth * (products + reads) + copies * policy().gpu.copy_instructions

    def cycles(self, fitting: _Fitting, parts: int = 1) -> float:
        """Cycles of the kernel: its busiest multiprocessor, or all memory. Each block has one of `parts` of its results' sums."""
        choices, facts, tile = policy().gpu, self.facts, fitting.tile
        blocks = prod(grid_of(self.contraction, tile)) * parts
        steps = -(-self.contraction.sums.extent // (parts * tile.depth))
        own = -(-blocks // facts.multiprocessors)
        together = min(own, fitting.resident)
        step = self._step(fitting, together, min(blocks, facts.multiprocessors * together))
        results = tile.rows * tile.columns * self.contraction.written_bytes(parts) / parts
        stored = results * facts.multiprocessors / facts.memory_bytes_per_cycle
        busy = own / together * steps * step + own * stored + choices.start_cycles
        return max(busy, memory_cycles(self.contraction, facts, parts))

    def _step(self, fitting: _Fitting, together: int, blocks: int) -> float:
        """Cycles of a step of `together` blocks on a multiprocessor, of `blocks` that run at a time.

        A scheduler issues the instructions of its warps, of which one alone waits for what it reads; shared memory, the L2 cache
        and what arrives from it may take longer.
        """
        choices, facts, tile = policy().gpu, self.facts, fitting.tile
        warps = tile.threads // facts.warp_threads
        alone = fitting.issued + tile.depth * choices.shared_latency
        issued = max(-(-together * warps // facts.schedulers) * fitting.issued, alone)
        vectors = (tile.thread_rows + tile.thread_columns) // self._vector
        read = together * warps * tile.depth * vectors * VECTOR_READ_PASSES
        copied = (tile.rows + tile.columns) * tile.depth * self.contraction.lhs.bytes
        cached = copied * blocks / facts.l2_bytes_per_cycle
        return max(issued, read, cached, choices.memory_latency / (tile.stages - 1)) + choices.barrier_cycles
