"""What a kernel costs: launches, the longest thread, and the memory that warps move, in cycles of the GPU.

Only comparisons of these numbers mean something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import islpy as isl

from dlc.lowering.affine.cost.strides import access_strides, element_bytes
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.loop_values import ends_of
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.schedule.loop_tree import Leaf, LoopNode, Tree, loops_above, walk
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine


def extent_of(loop: LoopNode) -> int:
    """How many values the loop's variable has at most; a large number where that is not bounded."""
    low, high = ends_of(loop.values.intersect_domain(loop.domain))
    return int(str(high.sub(low))) + 1 if low.is_int() and high.is_int() else policy().limits.unbounded_trips


def kernel_cost(scop: Scop, above: Sequence[LoopNode], nest: Tree, mapped: int, block: int, facts: GpuMachine) -> float:
    """The cost of all launches of a kernel inside the host's loops `above`.

    The `mapped` outermost loops of `nest` become blocks of `block` threads; the last of them lies along warps.
    """
    outer = loops_above(nest, (0,) * mapped)
    threads = prod(extent_of(loop) for loop in outer)
    busy = min(facts.multiprocessors, -(-threads // block))
    total = policy().gpu.launch_cycles * prod(extent_of(loop) for loop in above)
    for loops, leaf in _leaves(above, nest):
        volume = _volume(leaf.domain)
        moved = volume * _sectors(scop, loops, leaf, len(above) + mapped - 1 if mapped else None, facts)
        total += max(volume / min(threads, facts.threads) * policy().gpu.thread_step_cycles, moved / busy)
    return total


def phase_cost(
    scop: Scop,
    above: Sequence[LoopNode],
    loops: Sequence[LoopNode],
    phases: Sequence[tuple[Tree, int | None]],
    rows: int,
    block: int,
    facts: GpuMachine,
) -> float:
    """The cost of a kernel whose warps run phases inside of `loops`, which hold the host's loops `above` and so many `rows`.

    Each phase is a nest with the depth of the loop that goes along a warp's threads; None for one that a single thread runs.
    """
    total = policy().gpu.launch_cycles * prod(extent_of(loop) for loop in above)
    busy = min(facts.multiprocessors, -(-rows * facts.warp_threads // block))
    for nest, along in phases:
        threads = rows * (facts.warp_threads if along is not None else 1)
        for around, leaf in _leaves(loops, nest):
            volume = _volume(leaf.domain)
            moved = volume * _sectors(scop, around, leaf, None if along is None else len(loops) + along, facts)
            total += max(volume / min(threads, facts.threads) * policy().gpu.thread_step_cycles, moved / busy)
    return total


def sectors_along(scop: Scop, above: Sequence[LoopNode], nest: Tree, depth: int, facts: GpuMachine) -> float:
    """Sectors of memory that `nest` moves where neighbours in a warp are neighbours along its loop at `depth`."""
    dim = len(above) + depth
    return sum(_sectors(scop, loops, leaf, dim, facts) * _volume(leaf.domain) for loops, leaf in _leaves(above, nest))


def _leaves(above: Sequence[LoopNode], nest: Tree) -> Iterator[tuple[list[LoopNode], Leaf]]:
    """The statements of `nest` that run at all, each with all loops around."""
    for path, node in walk(nest):
        if isinstance(node, Leaf) and not node.domain.is_empty():
            yield [*above, *loops_above(nest, path)], node


def _sectors(scop: Scop, loops: Sequence[LoopNode], leaf: Leaf, dim: int | None, facts: GpuMachine) -> float:
    """Sectors that one iteration of a statement moves, where lanes of a warp are neighbours along loop `dim`; all for no loop."""
    statement = scop.by_name[_name(leaf)]
    if dim is None:
        return float(len(statement.accesses))
    strides = dict(access_strides(scop, [loop.values for loop in loops], leaf.domain, [dim])[0])
    return sum(_sectors_of(access, strides.get(access, 0), facts) for access in statement.accesses)


def _sectors_of(access: MemRefAccess, stride: int | None, facts: GpuMachine) -> float:
    if stride is None:
        return 1.0
    return min(1.0, max(abs(stride) * element_bytes(access.array) / facts.sector_bytes, 1 / facts.warp_threads))


def _name(leaf: Leaf) -> str:
    (name,) = {found.get_tuple_name() for found in _sets(leaf.domain)}
    return str(name)


def _sets(domain: isl.UnionSet) -> list[isl.Set]:
    sets = domain.get_set_list()
    return [sets.get_set(place) for place in range(sets.n_set())]


def _volume(domain: isl.UnionSet) -> float:
    """About how many instances `domain` has: the boxes around its sets."""
    total = 0.0
    for one in _sets(domain):
        size = 1.0
        for dim in range(one.dim(isl.dim_type.set)):
            low, high = one.dim_min_val(dim), one.dim_max_val(dim)
            size *= int(str(high.sub(low))) + 1 if low.is_int() and high.is_int() else policy().limits.unbounded_trips
        total += size
    return total
