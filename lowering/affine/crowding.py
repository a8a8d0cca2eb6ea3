"""Lines that share a set of the nearest cache: copies of a load that lie a multiple of a power of two apart push each other out."""

from __future__ import annotations

import math

from dlc._mlir import ir
from dlc.lowering.affine.accesses import stride_along
from dlc.lowering.affine.cost import Tile
from dlc.lowering.affine.lanes import element_bits
from dlc.lowering.affine.loops import Loop, real_ops
from dlc.lowering.affine.nests import Nest
from dlc.targets.cpu.facts import L1_WAY_BYTES

_FEWEST_WAYS = 8


def crowding(nest: Nest, tile: Tile) -> int:
    """Copies of the loops of `tile` whose loads fall into one set of the cache.

    Of 16x16 pixels with 512 channels eight of a row make a tile that takes 0.85 of the time of eight of a column, 32 KiB apart.
    """
    loads = [op for op in real_ops(nest.hot_block) if op.name == "affine.load"]
    return sum(factor for loop, factor in tile.jams if any(shares_set(load, loop) for load in loads))


def overflows_set(nest: Nest, tile: Tile, l1_bytes: int) -> bool:
    """Whether the copies of a load that fall into one set of the nearest cache are more than that holds.

    14 pixels of 7x7 that step over 14x14x512 lie 4 KiB apart: 3x3/2 taps to 512 channels by them take 1.6 times as long as by 7.
    """
    ways = max(_FEWEST_WAYS, l1_bytes // L1_WAY_BYTES)
    loads = [op for op in real_ops(nest.hot_block) if op.name == "affine.load"]
    return any(math.prod(factor for loop, factor in tile.jams if _lies_apart(load, loop)) > ways for load in loads)


def _lies_apart(load: ir.Operation, loop: Loop) -> bool:
    """The same as `shares_set`, but not where that is not known."""
    return stride_along(load, loop.iv) is not None and shares_set(load, loop)


def shares_set(load: ir.Operation, loop: Loop) -> bool:
    """Whether steps of `loop` move `load` by multiples of `L1_WAY_BYTES`, or by what is not known."""
    stride = stride_along(load, loop.iv)
    return stride is None or (stride != 0 and stride * (element_bits(load.results[0].type) or 64) // 8 % L1_WAY_BYTES == 0)
