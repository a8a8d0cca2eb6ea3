"""Softmax of rows that come tile by tile (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).

Neighbouring lanes have the columns of a row: four where it lies in fragments of sums. Each of them knows the row's largest score
so far, and the sum of its own exponentials alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from dlc._mlir import arith, gpu, ir
from dlc._mlir import math as math_ops
from dlc.lowering.policy import policy
from dlc.targets.machine import FRAGMENT_LANES, MATRIX_ROWS


def larger(one: ir.Value, other: ir.Value) -> ir.Value:
    """Emit the larger of two numbers; NaN where one is."""
    return arith.maximumf(one, other)


def of_row(combine: Callable[[ir.Value, ir.Value], ir.Value], value: ir.Value, lanes: int = FRAGMENT_LANES) -> ir.Value:
    """Emit what `combine` makes of the values that the `lanes` lanes of a row have; all of them get it.

    The whole warp takes part: `shfl.sync` in parts of a warp names the lanes of the first part alone as those that do."""
    word = ir.IntegerType.get_signless(32)
    width, distance = arith.constant(word, MATRIX_ROWS * FRAGMENT_LANES), lanes // 2
    while distance:
        other = gpu.ShuffleOp(value, arith.constant(word, distance), width, gpu.ShuffleMode.XOR).shuffleResult
        value, distance = combine(value, other), distance // 2
    return value


def together(combine: Callable[[ir.Value, ir.Value], ir.Value], values: Sequence[ir.Value]) -> ir.Value:
    """Emit what `combine` makes of `values`, in chains side by side: each step of a chain waits for the one before."""
    chains = min(policy().gpu.softmax_chains, len(values))
    return reduce(combine, [reduce(combine, values[start::chains]) for start in range(chains)])


def next_top(top: ir.Value, scores: Sequence[ir.Value], lanes: int) -> tuple[ir.Value, ir.Value]:
    """Emit the largest score of a row with those of another tile, and what is subtracted of scores: that, but 0 for -inf."""
    found = larger(top, of_row(larger, together(larger, scores), lanes))
    lowest, zero = arith.constant(top.type, -math.inf), arith.constant(top.type, 0.0)
    return found, arith.select(arith.cmpf(arith.CmpFPredicate.OEQ, found, lowest), zero, found)


@dataclass(frozen=True)
class Exponentials:
    """exp(factor * (score - top)) of the scores of a row, by `ex2.approx.ftz`: within 2 ulp, and 0 for what would be subnormal
    (PTX ISA).

    Where `factor` is None, scores may be as large as a finite mask makes them. The difference comes first then: it is exact where
    both are close. Else top * factor is rounded once for all scores of the row, and one multiply-add makes each exponent.
    """

    factor: float | None
    top: ir.Value

    def of(self, scores: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit those of `scores`."""
        kind, scale = self.top.type, math.log2(math.e) * (1.0 if self.factor is None else self.factor)
        factor = arith.constant(kind, scale)
        if self.factor is None:
            return [_exp2(arith.mulf(arith.subf(score, self.top), factor)) for score in scores]
        shift = arith.mulf(self.top, arith.constant(kind, -scale))
        return [_exp2(math_ops.fma(score, factor, shift)) for score in scores]


def _exp2(power: ir.Value) -> ir.Value:
    return ir.Operation.create("nvvm.ex2", [power.type], [power], {"ftz": ir.BoolAttr.get(True)}).results[0]


def next_total(total: ir.Value, factor: ir.Value, weights: Sequence[ir.Value]) -> ir.Value:
    """Emit the sum of a lane's exponentials with those of another tile, the old ones times `factor`."""
    return arith.addf(arith.mulf(total, factor), together(arith.addf, weights))
