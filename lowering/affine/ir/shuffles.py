"""Transposes square tiles between vectors."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir, vector
from dlc.lowering.affine.ir.lanes import element_bits

_BLOCK_BITS = 128
"""Within blocks of so many bits elements are interleaved by one cheap instruction; between blocks whole ones move."""


def transposed(rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Emit the transpose of a square tile: lane i of result j is lane j of `rows[i]`. The size is a power of two.

    Every stage is two-input shuffles that x86 and AArch64 have as one instruction each: unpack low and high halves within
    blocks of 128 bits, then even and odd blocks. A stage takes one bit of the lane number in exchange for one bit of the
    row number: unpacking puts the row bit lowest and takes the block's highest, choosing blocks puts it highest of all
    and takes the lowest of the block number. So the bits of a row end in order, and no rows change places at the end.
    """
    size = len(rows)
    kind = ir.VectorType(rows[0].type)
    bits = element_bits(kind.element_type) or _BLOCK_BITS
    block = min(size, max(1, _BLOCK_BITS // bits))
    unpacked = range(block.bit_length() - 1)
    chosen = range(block.bit_length() - 1, size.bit_length() - 1)
    current = list(rows)
    for bit in (*reversed(unpacked), *chosen):
        masks = _unpacking(size, block) if bit in unpacked else _choosing(size, block)
        for row in range(size):
            if not row >> bit & 1:
                pair = current[row], current[row | 1 << bit]
                current[row], current[row | 1 << bit] = (vector.ShuffleOp(*pair, mask).result for mask in masks)
    return current


def _unpacking(size: int, block: int) -> tuple[list[int], list[int]]:
    """Interleave the low halves of each block of two vectors, and the high halves."""
    low, high = [], []
    for start in range(0, size, block):
        for lane in range(start, start + block // 2):
            low += [lane, size + lane]
            high += [lane + block // 2, size + lane + block // 2]
    return low, high


def _choosing(size: int, block: int) -> tuple[list[int], list[int]]:
    """The even blocks of two vectors, and the odd ones."""
    starts = range(0, 2 * size, 2 * block)
    even = [lane for start in starts for lane in range(start, start + block)]
    return even, [lane + block for lane in even]
