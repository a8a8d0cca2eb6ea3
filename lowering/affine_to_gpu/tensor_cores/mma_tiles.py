"""The tiles of a matrix product on tensor cores, and what it costs in cycles: the cheapest of all that fit is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import Protocol

from dlc.lowering.affine.search.candidates import Candidate, search
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.lowering.affine_to_gpu.tensor_cores.tensor_maps import TensorMap
from dlc.lowering.policy import policy
from dlc.targets.machine import (
    BARRIER_BYTES,
    MATRICES,
    MATRIX_ROW_BYTES,
    MATRIX_ROWS,
    MOST_THREAD_REGISTERS,
    REGISTER_BYTES,
    SWIZZLE_BYTES,
    GpuMachine,
)


class ContractionTile(Protocol):
    """What a block of any kernel of a contraction computes: `rows` x `columns`, `depth` products at a time, `stages` of which are
    in shared memory at a time."""

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def stages(self) -> int: ...


@dataclass(frozen=True)
class MmaTile:
    """What a block computes (`rows` x `columns`, `depth` products at a time), what each of its warps, and how many tiles of the sum
    are in shared memory at a time."""

    rows: int
    columns: int
    depth: int
    warp_rows: int
    warp_columns: int
    stages: int

    @property
    def warps(self) -> tuple[int, int]:
        """Warps of a block along rows and columns."""
        return self.rows // self.warp_rows, self.columns // self.warp_columns

    def shared_bytes(self, element: int) -> int:
        """Shared memory for operands of so many bytes an element."""
        return self.stages * (self.rows + self.columns) * self.depth * element

    def registers(self, element: int, warp_threads: int) -> tuple[int, int]:
        """Registers of a thread for sums, and for operands of one instruction after the other."""
        sums = self.warp_rows * self.warp_columns // warp_threads
        operands = (self.warp_rows + self.warp_columns) * 2 * MATRIX_ROW_BYTES // REGISTER_BYTES // warp_threads
        return sums, operands


def barrier_bytes(stages: int) -> int:
    """Shared memory for two barriers of each stage."""
    return 2 * stages * BARRIER_BYTES


def grid_of(contraction: Contraction, tile: ContractionTile) -> tuple[int, int, int]:
    """Blocks along columns, rows and the batch; of open axes as many as are likely."""
    columns, rows = -(-contraction.columns.extent // tile.columns), -(-contraction.rows.extent // tile.rows)
    return columns, rows, contraction.batch.extent


def best_tile(contraction: Contraction, shapes: Sequence[MmaShape], facts: GpuMachine) -> tuple[MmaShape, MmaTile] | None:
    """The cheapest instruction and tile; None where none fits, or a kernel without tensor cores is as fast."""
    best = search([partial(_candidates, contraction, shape, facts) for shape in shapes], lambda found: found)
    if best is None or best.cycles > policy().gpu.mma_gain * plain_cycles(contraction, facts):
        return None
    return best.schedule


def _candidates(contraction: Contraction, shape: MmaShape, facts: GpuMachine) -> Iterator[Candidate[tuple[MmaShape, MmaTile]]]:
    tiles = _Tiles(contraction, shape, facts)
    yield from (Candidate((shape, tile), tiles.cycles(tile)) for tile in tiles.fitting())


def panels_of(contraction: Contraction, shape: MmaShape, tile: MmaTile) -> tuple[Panel, Panel]:
    """What a block keeps of both operands, the left one first; the rows of `wgmma` are those that it has swizzles of."""
    sums, element = contraction.sums, contraction.lhs.bytes
    row_bytes = SWIZZLE_BYTES[0] if shape.of_warpgroup else max(tile.rows, tile.columns, tile.depth) * element
    return (
        Panel.of(contraction.lhs, contraction.rows, sums, tile.rows, tile.depth, row_bytes),
        Panel.of(contraction.rhs, contraction.columns, sums, tile.columns, tile.depth, row_bytes),
    )


@dataclass(frozen=True, eq=False)
class _Tiles:
    contraction: Contraction
    shape: MmaShape
    facts: GpuMachine
    panels: dict[tuple[int, int, int], tuple[Panel, Panel]] = field(default_factory=dict)
    """What was found for a block's sides and depth."""

    @cached_property
    def _moved(self) -> tuple[int, int]:
        """Whether rows of each operand go through registers."""
        smallest = MmaTile(self.shape.rows, self.shape.rows, self.shape.depth, self.shape.rows, self.shape.rows, 2)
        left, right = panels_of(self.contraction, self.shape, smallest)
        return int(not left.chunk), int(not right.chunk)

    def fitting(self) -> Iterator[MmaTile]:
        """The tiles that fit a block and a grid, larger ones first."""
        choices, element = policy().gpu, self.contraction.lhs.bytes
        for rows, columns, warp_rows, warp_columns in self._sides():
            if warp_rows > rows or warp_columns > columns:
                continue
            for depth, stages in product(choices.mma_depths, choices.mma_stages):
                tile = MmaTile(rows, columns, depth // element, warp_rows, warp_columns, stages)
                if self._fits(tile):
                    yield tile

    def _sides(self) -> Iterator[tuple[int, int, int, int]]:
        """Sides of a block and of a warp; a warpgroup has all columns of its block."""
        choices = policy().gpu
        if not self.shape.of_warpgroup:
            yield from product(choices.mma_block_sides, choices.mma_block_sides, choices.mma_warp_sides, choices.mma_warp_sides)
            return
        for rows, columns in product(choices.warpgroup_rows, choices.warpgroup_columns):
            yield rows, columns, self.shape.rows, columns

    def _fits(self, tile: MmaTile) -> bool:
        choices, element = policy().gpu, self.contraction.lhs.bytes
        grid = grid_of(self.contraction, tile)
        return (
            prod(tile.warps) <= choices.mma_most_warps
            and tile.registers(element, self.facts.warp_threads)[0] <= choices.mma_sums
            and tile.depth >= self.shape.depth
            and tile.shared_bytes(element) <= self._most_shared(tile)
            and self._threads(tile) <= self.facts.most_threads
            and max(grid[1:]) <= self.facts.most_blocks_y
            and self._held(tile) <= choices.mma_held
            and self._registers(tile) <= MOST_THREAD_REGISTERS
            and self._resident(tile) > 0
        )

    def _most_shared(self, tile: MmaTile) -> int:
        """Bytes for panels."""
        return self.facts.most_shared_bytes - (barrier_bytes(tile.stages) if self.shape.of_warpgroup else 0)

    def _threads(self, tile: MmaTile) -> int:
        return prod(tile.warps) * self.facts.warp_threads

    def _held(self, tile: MmaTile) -> int:
        """Elements that a thread holds on their way to shared memory."""
        rows, columns = self._moved
        return -(-(rows * tile.rows + columns * tile.columns) * tile.depth // self._threads(tile))

    def _resident(self, tile: MmaTile) -> int:
        """Blocks that a multiprocessor holds at a time."""
        shared_bytes = tile.shared_bytes(self.contraction.lhs.bytes)
        return resident_blocks(self._threads(tile), self._registers(tile), shared_bytes, self.facts)

    def _registers(self, tile: MmaTile) -> int:
        """Registers of a thread."""
        sums, operands = tile.registers(self.contraction.lhs.bytes, self.facts.warp_threads)
        own = sums + (0 if self.shape.of_warpgroup else operands)
        return own + policy().gpu.mma_registers + self._held(tile) + policy().gpu.mma_copy_registers * self._scattered_copies(tile)

    def _scattered_copies(self, tile: MmaTile) -> int:
        """Copies of a thread for a tile of the sum whose addresses follow no stride, as those of pixels of several rows."""
        found = 0
        for panel in self._panels(tile):
            if panel.axis.extent > 1 and panel.axis.stride(panel.operand) is None:
                found += -(-panel.side * panel.depth // (max(panel.chunk, 1) * self._threads(tile)))
        return found

    def cycles(self, tile: MmaTile, parts: int = 1) -> float:
        """Cycles of the kernel beside its launch: its busiest multiprocessor's tensor cores, shared memory, instructions and share
        of the L2 cache, or all memory. What a block waits for is hidden by other blocks of its multiprocessor. Each block sums one
        of `parts` of a result's products."""
        choices, facts, element = policy().gpu, self.facts, self.contraction.lhs.bytes
        blocks = prod(grid_of(self.contraction, tile)) * parts
        steps = -(-self.contraction.sums.extent // (parts * tile.depth))
        own = -(-blocks // facts.multiprocessors)
        together = min(own, self._resident(tile))
        busy = min(1.0, together * prod(tile.warps) / facts.schedulers)
        multiplied = tile.rows * tile.columns * tile.depth / (self.shape.rate * busy)
        copied = (tile.rows + tile.columns) * tile.depth * element
        together_rows = tile.warp_rows * self.shape.warps
        read = prod(tile.warps) // self.shape.warps * (together_rows + tile.warp_columns) * tile.depth * element
        shared = (copied + read) / facts.shared_bytes_per_cycle
        cached = copied * min(blocks, facts.multiprocessors) / facts.l2_bytes_per_cycle
        instructions = self._step_instructions(tile)
        alone = choices.barrier_cycles + instructions * choices.warp_cycles + (multiplied if self.shape.of_warpgroup else 0.0)
        waiting = max(alone, choices.stage_latency / (tile.stages - 1)) / together
        issued = instructions * prod(tile.warps) / facts.schedulers
        step = max(multiplied + choices.barrier_cycles / together, shared, cached, issued, waiting)
        results = tile.rows * tile.columns * self.contraction.written_bytes(parts) / parts
        stored = results * facts.multiprocessors / facts.memory_bytes_per_cycle
        last = self._last_instructions(tile, parts) * max(choices.warp_cycles / together, prod(tile.warps) / facts.schedulers)
        first = (tile.stages - 1) * self._copy_instructions(tile) * choices.warp_cycles / together
        total = own * (first + steps * step + max(stored, last)) + 2 * choices.stage_latency
        return max(total, memory_cycles(self.contraction, facts, parts))

    def _copy_instructions(self, tile: MmaTile) -> float:
        """Instructions of a warp to copy a tile of the sum."""
        if self._is_by_tma(tile):
            return 0.0
        choices, sums, copies = policy().gpu, self.contraction.sums, 0.0
        places = 0 if sums.is_cut_by(tile.depth) else (len(sums.loops) - 1) * choices.place_instructions
        for panel in self._panels(tile):
            copies += panel.side * panel.depth / (max(panel.chunk, 1) * self._threads(tile))
        return copies * (choices.copy_instructions + places)

    def _step_instructions(self, tile: MmaTile) -> float:
        """Instructions of a warp for a tile of the sum: copies, loads of fragments by an address each, products, and the loop's."""
        found, element = policy().gpu.step_instructions + self._copy_instructions(tile), self.contraction.lhs.bytes
        steps = tile.depth // self.shape.depth
        if self.shape.of_warpgroup:
            return found + steps
        rows, columns = tile.warp_rows // self.shape.rows, tile.warp_columns // self.shape.columns
        loads = (tile.warp_rows + tile.warp_columns) * tile.depth * element / (MATRICES * MATRIX_ROWS * MATRIX_ROW_BYTES)
        return found + steps * rows * columns + 2 * loads

    def _last_instructions(self, tile: MmaTile, parts: int) -> float:
        """Instructions of a warp for what is done with its sums."""
        ops = 1 if parts > 1 else len(self.contraction.before) + len(self.contraction.epilogue)
        return ops * tile.rows * tile.columns / self._threads(tile)

    def _panels(self, tile: MmaTile) -> tuple[Panel, Panel]:
        """What a block keeps of both operands."""
        key = tile.rows, tile.columns, tile.depth
        if key not in self.panels:
            self.panels[key] = panels_of(self.contraction, self.shape, tile)
        return self.panels[key]

    def _is_by_tma(self, tile: MmaTile) -> bool:
        """Whether one thread copies whole panels."""
        batch = self.contraction.batch
        return self.shape.of_warpgroup and all(TensorMap.of(panel, batch) for panel in self._panels(tile))


def least_cycles(contraction: Contraction, shapes: Sequence[MmaShape], facts: GpuMachine) -> float:
    """Cycles of the cheapest kernel, on tensor cores or without."""
    makers, limit = [_Tiles(contraction, shape, facts) for shape in shapes], plain_cycles(contraction, facts)
    found = min((one.cycles(tile) for one in makers for tile in one.fitting()), default=limit)
    return found if found <= policy().gpu.mma_gain * limit else limit


def resident_blocks(threads: int, registers: int, shared_bytes: int, facts: GpuMachine) -> int:
    """Blocks that a multiprocessor holds at a time, of so many threads with so many registers each."""
    return min(
        facts.shared_per_multiprocessor // shared_bytes,
        facts.registers_per_multiprocessor // (registers * threads),
        facts.threads_per_multiprocessor // threads,
        facts.most_resident_blocks,
    )


def plain_cycles(contraction: Contraction, facts: GpuMachine, parts: int = 1) -> float:
    """The least cycles of a kernel without tensor cores: its multiply-adds on all multiprocessors, or its memory, and what a block
    waits for its panels, which nothing brings ahead. Each block sums one of `parts` of a result's products."""
    choices = policy().gpu
    multiplied = contraction.products / (facts.fma_per_cycle * facts.multiprocessors)
    steps = -(-contraction.sums.extent // (parts * choices.tile_threads))
    waiting = steps * (choices.barrier_cycles + choices.memory_latency)
    return max(multiplied, memory_cycles(contraction, facts, parts)) + waiting


def memory_cycles(contraction: Contraction, facts: GpuMachine, parts: int = 1) -> float:
    """Cycles in which memory brings both operands once and takes the results, or all partial ones."""
    moved = contraction.read_bytes + contraction.results * contraction.written_bytes(parts)
    return moved / facts.memory_bytes_per_cycle


def best_parts(contraction: Contraction, shapes: Sequence[MmaShape], allowed: Sequence[int], facts: GpuMachine) -> int:
    """Into how many of the `allowed` parts the sums are best split between blocks, on tensor cores; 1 for not at all.

    A grid that has a block for each multiprocessor without is left alone.
    """
    makers = [_Tiles(contraction, shape, facts) for shape in shapes]
    tiles = [(maker, tile) for maker in makers for tile in maker.fitting()]
    if not allowed or not tiles or prod(grid_of(contraction, _cheapest(tiles))) >= facts.multiprocessors:
        return 1
    cycles = {parts: min(one.cycles(tile, parts) for one, tile in tiles) for parts in (1, *allowed)}
    limits = {parts: plain_cycles(contraction, facts, parts) for parts in cycles}
    is_taken = {parts: cycles[parts] <= policy().gpu.mma_gain * limits[parts] for parts in cycles}
    costs = {parts: cycles[parts] + adding_cycles(contraction, facts, parts) for parts in allowed if is_taken[parts]}
    costs[1] = cycles[1] if is_taken[1] else limits[1]
    return min(sorted(costs), key=lambda parts: costs[parts])


def _cheapest(tiles: Sequence[tuple[_Tiles, MmaTile]]) -> MmaTile:
    """The tile that costs least where sums are not split."""
    return min(tiles, key=lambda found: found[0].cycles(found[1]))[1]


def adding_cycles(contraction: Contraction, facts: GpuMachine, parts: int) -> float:
    """Cycles of the launch that adds partial results: memory brings these and takes the results."""
    moved = contraction.results * (contraction.written_bytes(parts) + contraction.stored_bytes)
    return policy().gpu.launch_cycles + policy().gpu.memory_latency + moved / facts.memory_bytes_per_cycle
