"""Softmax of rows that come tile by tile (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).

A row lies in fragments of sums: four neighbouring lanes have its columns. Each of them knows the row's largest score so far,
and the sum of its own exponentials alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

from dlc._mlir import arith, gpu, ir
from dlc.targets.machine import FRAGMENT_LANES, MATRIX_ROWS


def larger(one: ir.Value, other: ir.Value) -> ir.Value:
    """Emit the larger of two numbers; NaN where one is."""
    return arith.maximumf(one, other)


def of_row(combine: Callable[[ir.Value, ir.Value], ir.Value], value: ir.Value) -> ir.Value:
    """Emit what `combine` makes of the values that the lanes of a row have; all of them get it.

    The whole warp takes part: `shfl.sync` in parts of a warp names the lanes of the first part alone as those that do."""
    word = ir.IntegerType.get_signless(32)
    width, distance = arith.constant(word, MATRIX_ROWS * FRAGMENT_LANES), FRAGMENT_LANES // 2
    while distance:
        other = gpu.ShuffleOp(value, arith.constant(word, distance), width, gpu.ShuffleMode.XOR).shuffleResult
        value, distance = combine(value, other), distance // 2
    return value


def next_top(top: ir.Value, scores: Sequence[ir.Value]) -> tuple[ir.Value, ir.Value]:
    """Emit the largest score of a row with those of another tile, and what is subtracted of scores: that, but 0 for -inf."""
    found = larger(top, of_row(larger, reduce(larger, scores)))
    lowest, zero = arith.constant(top.type, -math.inf), arith.constant(top.type, 0.0)
    return found, arith.select(arith.cmpf(arith.CmpFPredicate.OEQ, found, lowest), zero, found)


def exponential(score: ir.Value, top: ir.Value) -> ir.Value:
    """Emit exp(score - top) by `ex2.approx.ftz`, which is within 2 ulp and 0 for what would be subnormal (PTX ISA).

    The difference comes first: it is exact where both are close, however large a finite mask has made them."""
    difference = arith.subf(score, top)
    scaled = arith.mulf(difference, arith.constant(top.type, math.log2(math.e)))
    return ir.Operation.create("nvvm.ex2", [top.type], [scaled], {"ftz": ir.BoolAttr.get(True)}).results[0]


def next_total(total: ir.Value, factor: ir.Value, weights: Sequence[ir.Value]) -> ir.Value:
    """Emit the sum of a lane's exponentials with those of another tile, the old ones times `factor`."""
    return arith.addf(arith.mulf(total, factor), reduce(arith.addf, weights))
