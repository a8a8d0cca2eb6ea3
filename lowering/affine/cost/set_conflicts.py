"""Lines that share a set of the nearest cache: copies of a load that lie a multiple of a power of two apart push each other out."""

from __future__ import annotations

import math

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import Loop
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.targets.machine import L1_LEAST_WAYS, L1_WAY_BYTES


def lines_in_set(count: int, pitch: int) -> int:
    """How many of `count` lines, `pitch` bytes apart, fall into one set of the nearest cache."""
    return -(-count * math.gcd(pitch, L1_WAY_BYTES) // L1_WAY_BYTES)


def ways_of(l1_bytes: int) -> int:
    """The lines that a set of the nearest cache holds."""
    return max(L1_LEAST_WAYS, l1_bytes // L1_WAY_BYTES)


class SetConflicts:
    """Which loops of a nest move which of its loads by multiples of the size of a way: found once, asked for each tile."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self._loads = nest.innermost_loads
        self._found: dict[Loop, tuple[bool | None, ...]] = {}

    def copies(self, tile: Tile) -> int:
        """Copies of the loops of `tile` whose loads fall into one set of the cache.

        Of 16x16 pixels with 512 channels eight of a row make a tile that takes 0.85 of the time of eight of a column, 32 KiB apart.
        """
        return sum(factor for loop, factor in self.nest.unroll_and_jam(tile) if self.may_share(loop))

    def overflows(self, tile: Tile, l1_bytes: int) -> bool:
        """Whether the copies of a load that fall into one set of the nearest cache are more than that holds.

        14 pixels of 7x7 that step over 14x14x512 lie 4 KiB apart: 3x3/2 taps to 512 channels by them take 1.6 times as long
        as by 7.
        """
        ways = ways_of(l1_bytes)
        if tile.body_copies // tile.vectors <= ways:
            return False
        unroll_and_jam = [(self._shares(loop), factor) for loop, factor in self.nest.unroll_and_jam(tile)]
        return any(
            math.prod(factor for shares, factor in unroll_and_jam if shares[load]) > ways for load in range(len(self._loads))
        )

    def may_share(self, loop: Loop) -> bool:
        """Whether steps of `loop` move some load by multiples of `L1_WAY_BYTES`, or by what is not known."""
        return any(share is not False for share in self._shares(loop))

    def _shares(self, loop: Loop) -> tuple[bool | None, ...]:
        """For each load whether steps of `loop` stay in one set; None where that is not known."""
        if loop not in self._found:
            self._found[loop] = tuple(_stays_in_set(load, loop) for load in self._loads)
        return self._found[loop]


def _stays_in_set(load: ir.Operation, loop: Loop) -> bool | None:
    stride = stride_along(load, loop.iv)
    if stride is None:
        return None
    return stride != 0 and stride * (element_bits(load.results[0].type) or 64) // 8 % L1_WAY_BYTES == 0
