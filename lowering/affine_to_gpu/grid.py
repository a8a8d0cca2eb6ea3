"""Names of loops that become the blocks of a grid or the threads of a block, and how many threads a block gets.

A loop that is mapped carries the attribute `dlc.name`: `kernel0.block.x`, `kernel0.thread.y`. A number may follow, where loops
were generated twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, cast

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.polyhedral import loop_marks
from dlc.targets.machine import GpuMachine

Unit = Literal["block", "thread"]

UNITS: tuple[Unit, ...] = ("thread", "block")
"""From the inside out."""

DIMENSIONS = ("x", "y", "z")
"""The dims of a grid and of a block; neighbours along x are in one warp."""

_MOST_Z = 64
"""Threads that a block has at most along z."""

_NAME = re.compile(r"(?:.*\.)?(block|thread)\.([xyz])(?:\.\d+)?")


@dataclass(frozen=True)
class GpuMapping:
    """What the iterations of a loop become: blocks or threads, along dim 0 (x), 1 or 2."""

    unit: Unit
    dim: int


def name_of(kernel: str, place: GpuMapping) -> str:
    """The name of a loop that is mapped there."""
    return f"{kernel}.{place.unit}.{DIMENSIONS[place.dim]}"


def is_place(name: str) -> bool:
    """Whether loops of that name are mapped."""
    return _NAME.fullmatch(name) is not None


def place_of(op: ir.Operation) -> GpuMapping | None:
    """Where the loop `op` is mapped to; None for other loops and ops."""
    found = _NAME.fullmatch(loop_marks.name_of(op)) if op.name == "affine.for" else None
    return GpuMapping(cast(Unit, found[1]), DIMENSIONS.index(found[2])) if found else None


def has_bound_loops(function: ir.Operation) -> bool:
    """Whether a loop of the function is mapped already."""
    return any(place_of(op) for op in nested_ops(function))


def is_bound(op: ir.Operation) -> bool:
    """Whether `op` lies inside of a loop that is mapped already."""
    around = op.parent
    while around is not None and around.operation.name != "func.func":
        if place_of(around.operation) is not None:
            return True
        around = around.operation.parent
    return False


def block_shape(extents: Sequence[int], facts: GpuMachine) -> tuple[int, ...]:
    """Threads of a block along each dim, x first, for loops of so many iterations.

    A warp along x, then rows until the block is full, then more along x. Where that leaves multiprocessors without a block, blocks
    are smaller, down to two warps.
    """
    size = facts.block_threads
    while size > 2 * facts.warp_threads and _blocks(extents, _shape(extents, size, facts)) < facts.multiprocessors:
        size //= 2
    return _shape(extents, size, facts)


def _shape(extents: Sequence[int], size: int, facts: GpuMachine) -> tuple[int, ...]:
    shape = [min(facts.warp_threads, power_above(extents[0]))]
    for dim, extent in enumerate(extents[1:], 1):
        shape.append(min(size // prod(shape), power_above(extent), _MOST_Z if dim == 2 else size))
    shape[0] = min(size // prod(shape[1:]), power_above(extents[0]))
    return tuple(shape)


def _blocks(extents: Sequence[int], shape: Sequence[int]) -> int:
    return prod(-(-extent // size) for extent, size in zip(extents, shape, strict=True))


def power_above(number: int) -> int:
    """The least power of two that is not below `number`."""
    return 1 << max(0, number - 1).bit_length()
