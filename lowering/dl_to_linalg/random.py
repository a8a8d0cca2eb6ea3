"""Lowering of random numbers: the generator's rounds on the place of each element."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.random import NUM_ROUNDS, PARITY, ROTATIONS
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("random_uniform")
def lower_random_uniform(b: Builder, op: SourceOp) -> ir.Value:
    """One generic that reads nothing."""
    shape, dtype = b.shape(op.operands[0]), op["to"]
    rank, wide = len(shape), b.wide(dtype)

    def body(_: ir.Value) -> ir.Value:
        place: Extent = 0
        for axis, size in enumerate(shape):
            place = b.extent("add", b.extent("mul", place, size), b.iteration(axis))
        unit = _unit(b, wide, _threefry(b, op["seed"], b.index_cast(b.index(place), b.element("i64"))))
        low = b.scalar(op["low"], wide)
        span = b.arith("sub", b.scalar(op["high"], wide), low, wide)
        return b.narrow(b.arith("add", low, b.arith("mul", unit, span, wide), wide), dtype)

    return b.generic([], b.empty(shape, dtype), [ir.AffineMap.get_identity(rank)], [PARALLEL] * rank, body)


def _unit(b: Builder, wide: str, words: tuple[ir.Value, ir.Value]) -> ir.Value:
    """A number in [0, 1) of the upper bits of the words; they are positive as signed integers, too."""

    def upper(word: ir.Value, gone: int, scale: float) -> ir.Value:
        bits = b.binary("arith.shrui", word, b.scalar(gone, "i32"))
        return b.arith("mul", b.convert(bits, "i32", wide), b.scalar(scale, wide), wide)

    if wide == "f32":
        return upper(words[0], 8, 2.0**-24)
    return b.arith("add", upper(words[0], 6, 2.0**-26), upper(words[1], 5, 2.0**-53), wide)


def _threefry(b: Builder, seed: int, counter: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The generator's two words (i32) for a key and an i64."""
    low, high = seed & 0xFFFFFFFF, seed >> 32
    keys = [b.scalar(key, "i32") for key in (low, high, PARITY ^ low ^ high)]
    word = b.element("i32")
    first = b.create("arith.trunci", [word], [counter])
    second = b.create("arith.trunci", [word], [b.binary("arith.shrui", counter, b.scalar(32, "i64"))])
    first, second = b.binary("arith.addi", first, keys[0]), b.binary("arith.addi", second, keys[1])
    for group in range(NUM_ROUNDS // 4):
        for turn in ROTATIONS[group % 2]:
            first = b.binary("arith.addi", first, second)
            second = b.binary("arith.xori", _rotated(b, second, turn), first)
        first = b.binary("arith.addi", first, keys[(group + 1) % 3])
        second = b.binary("arith.addi", second, keys[(group + 2) % 3])
        second = b.binary("arith.addi", second, b.scalar(group + 1, "i32"))
    return first, second


def _rotated(b: Builder, word: ir.Value, turn: int) -> ir.Value:
    """The bits of a word moved up by `turn`, the uppermost to the bottom."""
    up = b.binary("arith.shli", word, b.scalar(turn, "i32"))
    return b.binary("arith.ori", up, b.binary("arith.shrui", word, b.scalar(32 - turn, "i32")))
