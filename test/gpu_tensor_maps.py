"""What TMA does, for `gpu_interpreter.py`: boxes of tensor maps to shared memory, and barriers that count their bytes (PTX ISA).

A copy lands at once, or not before threads can only go on with it, at random. So a missing wait gives wrong numbers, and a wrong
number of bytes or of arrivals a wait that does not end, which is an error.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

_BOX_BYTES = 128
"""What the address of a box in shared memory is a multiple of."""


@dataclass(frozen=True)
class TensorMap:
    """An array as TMA sees it, the outermost dim first, the sides of a box, and the bytes of a swizzled row."""

    source: np.ndarray
    box: tuple[int, ...]
    swizzle: int

    def __post_init__(self) -> None:
        *outer, inner = self.source.strides
        assert self.source.__array_interface__["data"][0] % 16 == 0, "memory of a tensor map that is not aligned"
        assert inner == self.source.itemsize and all(stride > 0 and stride % 16 == 0 for stride in outer), "strides of a tensor map"
        assert len(self.box) == self.source.ndim <= 5 and all(0 < side <= 256 for side in self.box), "a box of a tensor map"
        assert self.box[-1] * self.source.itemsize == self.swizzle in (32, 64, 128), "a row of a box that is no swizzled row"

    def read(self, at: Sequence[int]) -> np.ndarray:
        """The box from `at` on, the innermost position first; zeros outside of the array."""
        found = np.zeros(self.box, self.source.dtype)
        starts = [int(place) for place in reversed(at)]
        ends = [min(start + side, size) for start, side, size in zip(starts, self.box, self.source.shape, strict=True)]
        firsts = [max(0, start) for start in starts]
        if all(first < end for first, end in zip(firsts, ends, strict=True)):
            target = tuple(slice(f - s, e - s) for f, s, e in zip(firsts, starts, ends, strict=True))
            found[target] = self.source[tuple(slice(f, e) for f, e in zip(firsts, ends, strict=True))]
        return found


@dataclass
class Barrier:
    """An `mbarrier`: the threads that it waits for, and what its current phase lacks."""

    count: int
    left: int = field(init=False)
    bytes: int = 0
    phase: int = 0
    is_shown: bool = False
    """Whether TMA sees that it has begun."""

    def __post_init__(self) -> None:
        self.left = self.count

    def arrive(self, expected: int = 0) -> None:
        """One thread comes, and announces so many bytes."""
        self.bytes += expected
        self.left -= 1
        assert self.left >= 0, "more threads arrive at a barrier than it waits for"
        self._end()

    def complete(self, count: int) -> None:
        """So many bytes have come."""
        self.bytes -= count
        self._end()

    def is_over(self, parity: int) -> bool:
        """Whether the phase of that parity is the one before the current one."""
        return self.phase % 2 != int(parity)

    def _end(self) -> None:
        if not self.left and not self.bytes:
            self.phase, self.left = self.phase + 1, self.count


@dataclass
class TensorCopies:
    """The barriers of a block, by their addresses in `memory`, and its copies by TMA that are on their way.

    `memory` are the views of shared memory that threads and that tensor cores have: TMA writes what both see.
    """

    memory: tuple[np.ndarray, np.ndarray]
    barriers: dict[int, Barrier] = field(default_factory=dict)
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def begin(self, address: int, count: int) -> None:
        """`mbarrier.init`."""
        assert address % 8 == 0 and count > 0, f"a barrier of {count} threads at byte {address}"
        self.barriers[int(address)] = Barrier(int(count))

    def show(self) -> None:
        """`fence.mbarrier_init`."""
        for barrier in self.barriers.values():
            barrier.is_shown = True

    def barrier(self, address: int) -> Barrier:
        assert int(address) in self.barriers, f"there is no barrier at byte {address}"
        return self.barriers[int(address)]

    def start(self, source: TensorMap, at: Sequence[int], target: int, address: int, order: random.Random) -> None:
        """Copy the box at `at` to shared memory from byte `target` on."""
        barrier = self.barrier(address)
        assert barrier.is_shown, "TMA does not see that a barrier has begun"
        assert target % _BOX_BYTES == 0, f"a box at byte {target} of shared memory"

        def land() -> None:
            values = source.read(at).reshape(-1).view(np.int8)
            places = int(target) + np.arange(values.size)
            places ^= places // 128 % (source.swizzle // 16) * 16
            for view in self.memory:
                view[places] = values
            barrier.complete(values.size)

        if order.random() < 0.5:
            land()
        else:
            self.waiting.append(land)

    def land(self, order: random.Random) -> bool:
        """Let one of the copies on their way land; whether there was one."""
        if self.waiting:
            self.waiting.pop(order.randrange(len(self.waiting)))()
            return True
        return False
