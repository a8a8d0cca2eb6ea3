"""How the threads of a kernel share the products of few rows with a large matrix (GEMV)."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.policy import policy
from dlc.targets.machine import REGISTER_BYTES, VECTOR_BYTES, GpuMachine


@dataclass(frozen=True)
class GemvTile:
    """A block's columns, in `lanes` groups of `neighbours` that a thread loads at once, and the `parts` that a sum has in a block.

    Threads that differ in their part take positions of the sum in turn, `steps` at once.
    """

    lanes: int
    neighbours: int
    parts: int
    steps: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.lanes * self.parts

    @property
    def columns(self) -> int:
        """Columns of a block."""
        return self.lanes * self.neighbours


def gemv_tile(contraction: Contraction, facts: GpuMachine) -> GemvTile | None:
    """The tile of a contraction that memory bounds: few rows, of which none fills the GPU by itself. None for others."""
    rows, columns, rhs = contraction.rows.extent, contraction.columns, contraction.rhs
    widths = (ir.F32Type, ir.IntegerType)
    if not _has_known_results(contraction):
        return None
    if rows > policy().gpu.gemv_rows or not isinstance(contraction.total.type, widths) or contraction.total.type.width != 32:
        return None
    if contraction.results >= facts.threads or not contraction.starts_at_constant:
        return None
    neighbours = VECTOR_BYTES // rhs.bytes
    while neighbours > 1 and not (columns.aligned(rhs, neighbours) and rows * neighbours <= policy().gpu.row_registers):
        neighbours //= 2
    lanes = _lanes(contraction, neighbours, facts)
    if lanes is None or (contraction.sums.stride(rhs) or 0) == 1:
        return None
    parts, steps = facts.block_threads // lanes, policy().gpu.row_registers * REGISTER_BYTES // (neighbours * rhs.bytes)
    blocks = _blocks(contraction, lanes * neighbours)
    if blocks < facts.multiprocessors:
        parts *= 2
    if 2 * blocks < facts.multiprocessors and contraction.sums.extent >= 2 * steps * parts:
        parts *= 2
    while parts > 1 and (parts > contraction.sums.extent or lanes * parts > facts.most_threads):
        parts //= 2
    if lanes * parts < facts.warp_threads:
        return None
    return GemvTile(lanes, neighbours, parts, _steps(contraction.sums.extent // parts, neighbours * rhs.bytes))


def _has_known_results(contraction: Contraction) -> bool:
    """Whether run time knows the extent of the sum alone, if any, and operands are read in memory of their own."""
    is_open = any(axis.is_open for axis in (contraction.batch, contraction.rows, contraction.columns))
    return not is_open and all(
        each.memref == each.load.operands[0] or not each.open_parts for each in (contraction.lhs, contraction.rhs)
    )


def _lanes(contraction: Contraction, neighbours: int, facts: GpuMachine) -> int | None:
    """Groups of columns that leave multiprocessors the least to read; of equal ones the most, whose rows in memory are longest."""
    width = neighbours * contraction.rhs.bytes
    dense = contraction.columns.run(contraction.rhs)
    least = min(2 * facts.sector_bytes, facts.warp_threads * width)
    found = [lanes for lanes in _powers(facts.warp_threads) if least <= lanes * width and lanes * neighbours <= dense]
    if not found:
        return None
    return min(
        reversed(found),
        key=lambda lanes: -(-_blocks(contraction, lanes * neighbours) // facts.multiprocessors) * lanes,
    )


def _powers(most: int) -> list[int]:
    return [1 << power for power in range(most.bit_length())]


def _blocks(contraction: Contraction, columns: int) -> int:
    return -(-contraction.columns.extent // columns) * contraction.batch.extent


def _steps(positions: int, width: int) -> int:
    """Loads on their way together: as many as registers hold, and where possible a divisor of the positions of a part."""
    most = max(1, min(positions, policy().gpu.row_registers * REGISTER_BYTES // width))
    return max((steps for steps in range(1, most + 1) if positions % steps == 0 and 2 * steps > most), default=most)
