"""What a register tile costs: instructions, chains of sums, and lines of memory.

A model of any core that starts two loads and two multiply-adds a cycle; only comparisons of its numbers mean something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2, sqrt

from dlc._mlir import ir
from dlc.lowering.affine.cost.cycles import Cycles, issue_cycles
from dlc.lowering.affine.cost.latencies import chain_latency
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.policy import policy
from dlc.targets.machine import LINE_BYTES, Machine

Strides = Sequence[tuple[MemRefAccess, "int | None"]]
"""The stride of each access along one loop, in elements; None where there is none."""


_PRODUCT_AND_SUM = 2
"""Ops of a statement whose only value on its way is a factor."""


@dataclass(frozen=True)
class BandNestCost:
    """A chain of loops as the costs see it: the strides along each, which of them carry no dependence, and lanes of a vector.

    Loops of one of the `bands` may change places; others may not, but for those that carry nothing, which may go inwards.
    """

    strides: Sequence[Strides]
    is_free: Sequence[bool]
    lanes: int
    bands: Sequence[Sequence[int]]
    starts: Sequence[int]
    """The least value of each loop's variable."""
    extents: Sequence[int]
    """Iterations of each loop."""
    straddling: frozenset[tuple[MemRefAccess, int]] = frozenset()
    """Accesses whose vectors along a loop begin anywhere in a line of memory."""
    spare_registers: int = 2
    """Registers that a tile takes beside those of its sums and of the vectors that its copies share."""
    iterations: float = 1.0
    """Runs of the innermost body without tiles; loops of a band nest need not be rectangular."""
    line_cycles: float | None = None
    """What another line takes; None for that of one from beyond L2."""

    @cached_property
    def kept(self) -> list[int]:
        """The loops that carry dependences."""
        return [at for at, free in enumerate(self.is_free) if not free]

    @cached_property
    def accesses(self) -> list[MemRefAccess]:
        """All accesses, in a fixed order; along a loop of one iteration none has a stride."""
        return list(dict.fromkeys(access for strides in self.strides for access, _ in strides))

    def tile_size(self, tile: Tile, at: int) -> int:
        """Iterations of a loop that the tile takes; tiles begin at multiples of it."""
        if at == tile.vector_loop:
            return min(tile.width, self.extents[at])  # the last vector may be part of one
        return dict(tile.unroll_and_jam).get(at, 1)

    def total(self, tile: Tile, machine: Machine) -> float:
        """Cycles of the loops in tiles, where smaller tiles take what is left of the loops."""
        along, across, extents, known = tile.vector_loop, tile.copied_loop, self.extents, self._of_one
        total, slower = 0.0, policy().cost.unmasked_rest if machine.has_slow_masks and along is not None else 1.0
        vectors = 1 if along is None else -(-extents[along] // self.lanes)
        copies = 1 if across is None else extents[across]
        for width, wide in _parts(vectors, tile.vectors):
            for height, high in _parts(copies, tile.copies):
                jam = () if across is None else ((across, height),)
                one = Tile(tile.code_generator, tile.lane_loop, tile.lanes, width, jam, tile.order)
                if one not in known:
                    known[one] = self._whole_cycles(one)
                total += wide * high * known[one] * (1.0 if height == tile.copies else slower)
        useful = 1.0 if along is None else extents[along] / self.lanes
        return total / (useful * copies) * self.iterations

    @cached_property
    def _of_one(self) -> dict[Tile, float]:
        """What is known of single tiles, which others end with."""
        return {}

    def _whole_cycles(self, tile: Tile) -> float:
        """Cycles for each iteration that the tile takes."""
        step = self.step(tile)
        return step.busy / _elements(tile) + step.memory / _elements(tile)

    def work_cycles(self, tile: Tile) -> float:
        """Cycles for each iteration that the tile takes where everything is in the first-level cache."""
        return self._busy(tile).busy / _elements(tile)

    def step(self, tile: Tile) -> Cycles:
        """Cycles of one step of the innermost loop around the tile."""
        each = policy().cost.exposed_far_line if self.line_cycles is None else self.line_cycles
        lines = sum(_lines(self, access, tile, tile.order[-1]) for access in self.accesses)
        return self._busy(tile)._replace(memory=lines * each + _straddling_cycles(self, tile))

    def _busy(self, tile: Tile) -> Cycles:
        innermost = tile.order[-1]
        issue = issue_cycles(_loads(self, tile), len(self.accesses) * tile.body_copies / 2)
        return Cycles(issue, self.latency(innermost) if innermost in self.kept else 0.0)

    def latency(self, at: int) -> float:
        """Cycles from one iteration of the loop number `at`, which carries a dependence, to the next."""
        return chain_latency(dict(self.strides[at]))

    def stride(self, access: MemRefAccess, at: int | None) -> int | None:
        """The stride of `access` along loop `at`, 0 along no loop."""
        return 0 if at is None else self._strides[at].get(access, 0)

    @cached_property
    def _strides(self) -> list[dict[MemRefAccess, int | None]]:
        return [dict(strides) for strides in self.strides]


def spare_registers(scop: Scop, strides: Sequence[Strides], has_fma: bool) -> int:
    """Registers for values on their way, of a chain with these accesses: a factor in all lanes, and another one where there is
    more than a multiply-add.

    Measured on Zen 3 in f64, beside tiles of 4 vectors by 2 copies: tiles of 3 by 4, which take all 16 registers, need 0.8 of the
    time in plain products of matrices, and 1.9 in scaled products (`gemm`), where values are spilled.
    """
    names = {access.statement_name for access, _ in strides[0]} if strides else set()
    computing = ([op for op in scop.by_name[name].ops if _computes(op)] for name in names)
    return 1 if has_fma and all(len(ops) <= _PRODUCT_AND_SUM for ops in computing) else 2


def _computes(op: ir.Operation) -> bool:
    return op.name.startswith(("arith.", "math.")) and op.name != "arith.constant" and isinstance(op.results[0].type, ir.FloatType)


def outer_order(nest: BandNestCost, tiled: Sequence[int], *, tiles_first: bool) -> tuple[int, ...]:
    """The loops around a tile of the loops `tiled` from the outside in, by their places in the chain.

    `tiles_first` says that the loops over tiles are outside of loops that are not free, where these may change places.
    """
    order: list[int] = []
    for band in nest.bands:
        kept = [at for at in band if not nest.is_free[at]]
        own = [at for at in tiled if at in band] if tiles_first else []
        order += [*(at for at in band if nest.is_free[at] and at not in tiled), *own, *kept]
    return tuple(order) if tiles_first else (*order, *tiled)


def _parts(extent: int, size: int) -> list[tuple[int, int]]:
    """The sizes of the tiles of a loop and how many of its iterations are in tiles of that size."""
    rest = extent % size
    return [(size, extent - rest), *([(rest, rest)] if rest else [])]


def _elements(tile: Tile) -> int:
    """Iterations that one step of the tile takes."""
    return tile.lanes * tile.body_copies


def _is_kept(nest: BandNestCost, access: MemRefAccess, tile: Tile, innermost: int) -> bool:
    """Whether the element stays in a register along the innermost loop; vectors do whose elements lie side by side."""
    return innermost in nest.kept and nest.stride(access, innermost) == 0 and nest.stride(access, tile.vector_loop) in (0, 1)


def _instructions(nest: BandNestCost, access: MemRefAccess, tile: Tile, innermost: int) -> float:
    """Loads or stores for one tile."""
    along, across = nest.stride(access, tile.vector_loop), nest.stride(access, tile.copied_loop)
    one = 1.0 if along in (0, 1) else _gather(nest, access, innermost)
    return one * (tile.vectors if along != 0 else 1) * (tile.copies if across != 0 else 1)


def _gather(nest: BandNestCost, access: MemRefAccess, innermost: int) -> float:
    """Instructions for a vector whose elements do not lie side by side: transposed where the innermost loop goes along rows."""
    if access.writes:
        return 2 * policy().cost.gathered_element * nest.lanes
    if innermost in nest.kept and nest.stride(access, innermost) == 1:
        return 1 + policy().cost.shuffle_instructions * log2(nest.lanes)
    return policy().cost.gathered_element * nest.lanes


def _lines(nest: BandNestCost, access: MemRefAccess, tile: Tile, innermost: int) -> float:
    """Lines of memory that one step of the innermost loop goes on to."""
    step = nest.stride(access, innermost)
    along, across = nest.stride(access, tile.vector_loop), nest.stride(access, tile.copied_loop)
    bytes_of = access.array.element_bytes
    if innermost == tile.vector_loop and step is not None:
        step = step * nest.lanes * tile.vectors
    fresh = 1.0 if step is None else min(1.0, abs(step) * bytes_of / LINE_BYTES)
    row = nest.lanes * tile.vectors
    streams = 1.0 if along == 0 or tile.lanes == 1 else max(1.0, row * bytes_of / LINE_BYTES) if along == 1 else row
    if along not in (0, 1) and fresh < 1:
        streams *= max(1.0, sqrt(row / policy().cost.followed_rows))
    return fresh * streams * (tile.copies if across != 0 else 1)


def _loads(nest: BandNestCost, tile: Tile) -> float:
    """Loads and stores of one step of what does not stay in registers."""
    innermost = tile.order[-1]
    moved = [access for access in nest.accesses if not _is_kept(nest, access, tile, innermost)]
    return sum(_instructions(nest, access, tile, innermost) for access in moved)


def _straddling_cycles(nest: BandNestCost, tile: Tile) -> float:
    """Cycles that the loads of one step take beside other work, where vectors of some lie in two lines; 0 where none do.

    3x3 windows of 56x56, 64 channels, share of the peak on a Zen 4 core: 6 vectors by 4 copies 81 %, 4 by 6 86 %, 3 by 8 90 %.
    """
    split = [access for access in nest.accesses if (access, tile.vector_loop) in nest.straddling]
    if not split:
        return 0.0
    parts = (min(1.0, nest.lanes * access.array.element_bytes / LINE_BYTES) for access in split)
    return policy().cost.exposed_load * (_loads(nest, tile) + policy().cost.split_load_slots * tile.vectors * sum(parts))
