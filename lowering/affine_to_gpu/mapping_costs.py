"""What a kernel costs: launches, the longest thread, and the memory that warps move, in cycles of the GPU.

Only comparisons of these numbers mean something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.loop_tree import LoopNode, Tree, sets_of
from dlc.lowering.affine_to_gpu.warp_strides import WarpStrides, extent_of, warp_strides
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine


def launch_cost(above: Sequence[LoopNode]) -> float:
    """The cost of launching a kernel in each iteration of the host's loops `above`."""
    return policy().gpu.launch_cycles * prod(extent_of(loop) for loop in above)


@dataclass(frozen=True, order=True)
class Cost:
    """Cycles, and how many accesses the longest thread does: where memory bounds both of two kernels, fewer are better."""

    cycles: float
    accesses: float


def kernel_cost(statements: Sequence[WarpStrides], threads: int, block: int, facts: GpuMachine, width: int = 1) -> Cost:
    """The cost of one launch for `statements`, by `threads` in blocks of `block`, each of which takes `width` neighbours."""
    busy = min(facts.multiprocessors, -(-threads // block))
    return _sum(statements, width, min(threads, facts.threads), busy, facts)


def phase_cost(
    statements: Sequence[WarpStrides], extent: int | None, rows: int, block: tuple[int, ...], facts: GpuMachine, width: int = 1
) -> Cost:
    """The cost of what the threads of `rows`, which lie along x in blocks of the shape `block`, run in one phase.

    A row's threads share `extent` iterations, of which each takes `width` neighbours at once; for None a single one runs them all.
    """
    lanes = block[0]
    busy = min(facts.multiprocessors, -(-rows * lanes // prod(block)))
    if extent is None:
        return _sum(statements, width, min(rows, facts.threads), busy, facts)
    used = lanes if width == 1 else min(lanes, -(-extent // width))
    return _sum(statements, width, min(rows * lanes, facts.threads) * used // lanes, busy, facts)


def _sum(statements: Sequence[WarpStrides], width: int, threads: int, busy: int, facts: GpuMachine) -> Cost:
    """What statements take one after the other: each the longer of the steps of a thread and of what memory moves."""
    cycles, accesses = 0.0, 0.0
    for one in statements:
        volume = volume_of(one.leaf.domain)
        steps = volume * one.left(width) / max(1, threads)
        cycles += max(steps * policy().gpu.thread_step_cycles, volume * one.sectors(width, facts) / busy)
        accesses += steps
    return Cost(cycles, accesses)


def sectors_along(scop: Scop, above: Sequence[LoopNode], nest: Tree, depth: int, facts: GpuMachine) -> float:
    """Sectors of memory that `nest` moves where neighbours in a warp are neighbours along its loop at `depth`."""
    statements = warp_strides(scop, above, nest, len(above) + depth)
    return sum(one.sectors(1, facts) * volume_of(one.leaf.domain) for one in statements)


def volume_of(domain: isl.UnionSet) -> float:
    """About how many instances `domain` has: the boxes around its sets."""
    total = 0.0
    for one in sets_of(domain):
        size = 1.0
        for dim in range(one.dim(isl.dim_type.set)):
            low, high = one.dim_min_val(dim), one.dim_max_val(dim)
            size *= int(str(high.sub(low))) + 1 if low.is_int() and high.is_int() else policy().limits.unbounded_trips
        total += size
    return total
