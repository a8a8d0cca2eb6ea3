"""The tiles of a matrix product on tensor cores, and what it costs in cycles: the cheapest of all that fit is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import CHUNK_BYTES, MmaShape
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine

_REGISTER_BYTES = 4


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
        operands = (self.warp_rows + self.warp_columns) * 2 * CHUNK_BYTES // _REGISTER_BYTES // warp_threads
        return sums, operands


def grid_of(contraction: Contraction, tile: MmaTile) -> tuple[int, int, int]:
    """Blocks along columns, rows and the batch."""
    columns, rows = -(-contraction.columns.extent // tile.columns), -(-contraction.rows.extent // tile.rows)
    return columns, rows, contraction.batch.extent


def best_tile(contraction: Contraction, shape: MmaShape, facts: GpuMachine) -> MmaTile | None:
    """The cheapest tile; None where none fits, or a kernel without tensor cores is as fast."""
    found = [(tile_cycles(contraction, shape, tile, facts), tile) for tile in _tiles(contraction, shape, facts)]
    if not found:
        return None
    cost, tile = min(found, key=lambda one: one[0])
    return tile if cost <= policy().gpu.mma_gain * plain_cycles(contraction, facts) else None


def _tiles(contraction: Contraction, shape: MmaShape, facts: GpuMachine) -> Iterator[MmaTile]:
    """The tiles that fit a block and a grid, larger ones first."""
    choices, element = policy().gpu, contraction.lhs.bytes
    sides = product(choices.mma_block_sides, choices.mma_block_sides, choices.mma_warp_sides, choices.mma_warp_sides)
    for rows, columns, warp_rows, warp_columns in sides:
        if warp_rows > rows or warp_columns > columns:
            continue
        for depth, stages in product(choices.mma_depths, choices.mma_stages):
            tile = MmaTile(rows, columns, depth // element, warp_rows, warp_columns, stages)
            if _fits(contraction, shape, tile, facts):
                yield tile


def _fits(contraction: Contraction, shape: MmaShape, tile: MmaTile, facts: GpuMachine) -> bool:
    choices, element = policy().gpu, contraction.lhs.bytes
    sums, operands = tile.registers(element, facts.warp_threads)
    grid = grid_of(contraction, tile)
    return (
        prod(tile.warps) <= choices.mma_most_warps
        and sums <= choices.mma_sums
        and tile.depth >= shape.depth
        and tile.shared_bytes(element) <= facts.shared_bytes
        and _threads(tile, facts) <= facts.most_threads
        and max(grid[1:]) <= facts.most_blocks_y
        and _resident(contraction, tile, facts) > 0
    )


def _threads(tile: MmaTile, facts: GpuMachine) -> int:
    return prod(tile.warps) * facts.warp_threads


def _resident(contraction: Contraction, tile: MmaTile, facts: GpuMachine) -> int:
    """Blocks that a multiprocessor holds at a time."""
    element, threads = contraction.lhs.bytes, _threads(tile, facts)
    registers = sum(tile.registers(element, facts.warp_threads)) + policy().gpu.mma_registers
    return min(
        facts.shared_per_multiprocessor // tile.shared_bytes(element),
        facts.registers_per_multiprocessor // (registers * threads),
        facts.threads_per_multiprocessor // threads,
        facts.most_resident_blocks,
    )


def tile_cycles(contraction: Contraction, shape: MmaShape, tile: MmaTile, facts: GpuMachine) -> float:
    """Cycles of the kernel beside its launch: its busiest multiprocessor's tensor cores, shared memory and share of the L2 cache, or all memory.

    What a multiprocessor waits for at barriers and for memory is hidden by its other blocks and by stages under way.
    """
    choices, element = policy().gpu, contraction.lhs.bytes
    blocks = prod(grid_of(contraction, tile))
    steps = -(-contraction.sums.extent // tile.depth)
    own = -(-blocks // facts.multiprocessors)
    together = min(own, _resident(contraction, tile, facts))
    multiplied = tile.rows * tile.columns * tile.depth / shape.rate
    copied = (tile.rows + tile.columns) * tile.depth * element
    read = prod(tile.warps) * (tile.warp_rows + tile.warp_columns) * tile.depth * element
    shared = (copied + read) / facts.shared_bytes_per_cycle
    cached = copied * min(blocks, facts.multiprocessors) / facts.l2_bytes_per_cycle
    waiting = (choices.barrier_cycles + choices.memory_latency / (tile.stages - 1)) / together
    step = max(multiplied, shared, cached, waiting)
    stored = tile.rows * tile.columns * _stored_bytes(contraction) * facts.multiprocessors / facts.memory_bytes_per_cycle
    total = own * (steps * step + stored) + 2 * choices.memory_latency
    return max(total, memory_cycles(contraction, facts))


def plain_cycles(contraction: Contraction, facts: GpuMachine) -> float:
    """The least cycles of a kernel without tensor cores: its multiply-adds on all multiprocessors, or its memory, and what a block
    waits for its panels, which nothing brings ahead."""
    choices = policy().gpu
    multiplied = contraction.products / (facts.fma_per_cycle * facts.multiprocessors)
    steps = -(-contraction.sums.extent // choices.tile_threads)
    waiting = steps * (choices.barrier_cycles + choices.memory_latency)
    return max(multiplied, memory_cycles(contraction, facts)) + waiting


def memory_cycles(contraction: Contraction, facts: GpuMachine) -> float:
    """Cycles in which memory brings both operands once, as far as the contraction reads them, and takes the results."""
    read = 0
    for operand, axis in ((contraction.lhs, contraction.rows), (contraction.rhs, contraction.columns)):
        used = contraction.batch.extent * axis.extent * contraction.sums.extent
        read += min(used, prod(ir.MemRefType(operand.memref.type).shape)) * operand.bytes
    results = contraction.batch.extent * contraction.rows.extent * contraction.columns.extent
    return (read + results * _stored_bytes(contraction)) / facts.memory_bytes_per_cycle


def _stored_bytes(contraction: Contraction) -> int:
    """Bytes that a result takes in memory."""
    stores = [op for op in contraction.epilogue if op.name == "affine.store"]
    return sum(-(-int(op.operands[0].type.width) // 8) for op in stores)
