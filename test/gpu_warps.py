"""What the lanes of a warp do together, for `gpu_interpreter.py`: `ldmatrix`, `mma.sync`, `shfl.sync`, `bar.warp.sync` and
`cp.async` (PTX ISA).

A thread that comes to a collective op waits for the other lanes of its warp. Copies by `cp.async` land at once, or as late as the
thread waits for their group, at random: a missing wait or barrier shows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

WARP = 32


@dataclass
class AsyncGroups:
    """What one thread has started and does not wait for, by groups in order; the last group is still open."""

    order: random.Random
    groups: list[list[Callable[[], None]]] = field(default_factory=lambda: [[]])

    def close(self) -> None:
        """End a group."""
        self.groups.append([])

    def wait(self, left: int) -> None:
        """Wait until at most `left` closed groups are on their way."""
        while len(self.groups) - 1 > left:
            for land in self.groups.pop(0):
                land()


@dataclass
class AsyncCopies(AsyncGroups):
    """The copies of one thread that are on their way, by groups in order; the last group is still open."""

    def start(self, target: np.ndarray, place: Sequence[int], source: np.ndarray, at: Sequence[int], count: int, used: int) -> None:
        """Copy `used` elements and as many zeros as are left of `count`; both ends are aligned at what is copied."""
        size = count * source.itemsize
        assert size in (4, 8, 16), f"cp.async of {size} bytes"
        assert 0 <= used <= count, f"cp.async of {used} elements of {count}"
        cells = row_of(target, place, count)
        values = np.zeros(count, source.dtype)
        if used:
            values[:used] = row_of(source, at, used)
        _require_aligned(source, at, size)
        _require_aligned(target, place, size)

        def land() -> None:
            cells[...] = values

        if self.order.random() < 0.5:
            land()
        else:
            self.groups[-1].append(land)


def row_of(memory: np.ndarray, place: Sequence[int], count: int) -> np.ndarray:
    """`count` neighbours along the last dim; IndexError outside of memory."""
    *outer, last = place
    if min(place) < 0 or last + count > memory.shape[-1]:
        raise IndexError(f"{count} elements at {tuple(place)} of {memory.shape}")
    found: np.ndarray = memory[(*outer, slice(last, last + count))]
    return found


def _require_aligned(memory: np.ndarray, place: Sequence[int], size: int) -> None:
    offset = sum(at * step for at, step in zip(place, memory.strides, strict=True))  # before the memory, where nothing is read
    assert offset % size == 0, f"{size} bytes at byte {offset}"


def matrix_row(memory: np.ndarray, place: Sequence[int]) -> np.ndarray:
    """What one address of `ldmatrix` gives: 16 bytes."""
    _require_aligned(memory, place, 16)
    return row_of(memory, place, 16 // memory.itemsize)


def vector_of(memory: np.ndarray, place: Sequence[int], count: int) -> np.ndarray:
    """What a vector's load or store touches: neighbours from a multiple of their size on."""
    _require_aligned(memory, place, count * memory.itemsize)
    return row_of(memory, place, count)


def load_matrices(rows: Sequence[np.ndarray], transpose: bool) -> list[np.ndarray]:
    """`ldmatrix.x4`: the registers of each lane, of the rows that the lanes have the addresses of."""
    per_register = 4 // rows[0].itemsize
    matrices = np.stack(rows).reshape(4, 8, -1)
    if transpose:
        assert per_register == 2, "ldmatrix transposes elements of two bytes"
        matrices = matrices.transpose(0, 2, 1)
    parts = matrices.reshape(4, 8, 4, per_register)
    return [parts[:, lane // 4, lane % 4].copy() for lane in range(WARP)]


def fragments_of(lanes: Sequence[np.ndarray]) -> np.ndarray:
    """The 16 rows of a left operand, of the four registers that each lane has of it."""
    per_register = lanes[0].shape[1]
    found = np.zeros((16, 8 * per_register), lanes[0].dtype)
    for lane, own in enumerate(lanes):
        for number in range(4):
            row, start = lane // 4 + number % 2 * 8, lane % 4 * per_register + number // 2 * 4 * per_register
            found[row, start : start + per_register] = own[number]
    return found


def multiply(lhs: Sequence[np.ndarray], rhs: Sequence[np.ndarray], sums: Sequence[np.ndarray]) -> list[np.ndarray]:
    """`mma.sync`: the sums of each lane, and the product of 16 rows and 8 columns added to them."""
    wide = sums[0].dtype
    per_register = lhs[0].shape[1]
    depth = 8 * per_register
    left = rounded(fragments_of(lhs)).astype(wide)
    right, total = np.zeros((depth, 8), wide), np.zeros((16, 8), wide)
    for lane in range(WARP):
        row, first = lane // 4, lane % 4 * per_register
        for number in range(2):
            start = first + number * 4 * per_register
            right[start : start + per_register, row] = rounded(rhs[lane][number])
        for half in range(2):
            total[row + 8 * half, lane % 4 * 2 : lane % 4 * 2 + 2] = sums[lane][half]
    total = total + left @ right
    return [np.stack([total[lane // 4 + 8 * half, lane % 4 * 2 : lane % 4 * 2 + 2] for half in range(2)]) for lane in range(WARP)]


def rounded(values: np.ndarray) -> np.ndarray:
    """f32 as the tensor cores read it: tf32 has 10 bits behind the point."""
    if values.dtype != np.float32:
        return values
    return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def exchange(lanes: Sequence[tuple[Any, int, int]], source_of: Callable[[int, int], int]) -> list[tuple[Any, bool]]:
    """`shfl.sync`: what each lane gets, and whether its source is in its part of `width` lanes; its own value where it is not."""
    found = []
    for lane, (value, offset, width) in enumerate(lanes):
        assert width in (1, 2, 4, 8, 16, 32) and 0 <= offset < WARP, f"a shuffle by {offset} in parts of {width} lanes"
        first = lane // width * width
        source = first + source_of(lane - first, int(offset))
        inside = first <= source < first + width
        found.append((lanes[source][0] if inside else value, inside))
    return found


_SOURCES: Mapping[str, Callable[[int, int], int]] = {
    "xor": lambda lane, offset: lane ^ offset,
    "up": lambda lane, offset: lane - offset,
    "down": lambda lane, offset: lane + offset,
    "idx": lambda lane, offset: offset,
}


_OPS: Mapping[str, Callable[[list[tuple[Any, ...]]], list[Any]]] = {
    "ldmatrix": lambda lanes: load_matrices([lane[0] for lane in lanes], lanes[0][1]),
    "sync": lambda lanes: [None] * len(lanes),
    "mma": lambda lanes: multiply(*(list(part) for part in zip(*lanes, strict=True))),
    **{f"shuffle {mode}": partial(exchange, source_of=source_of) for mode, source_of in _SOURCES.items()},
}


def together(asked: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What the lanes of a warp get, of the ops that they came to: name, then operands."""
    names = {one[0] for one in asked}
    assert len(asked) == WARP and len(names) == 1, f"the lanes of a warp come to {', '.join(sorted(names))} in {len(asked)} threads"
    return _OPS[names.pop()]([one[1:] for one in asked])
