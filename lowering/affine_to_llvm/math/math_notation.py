"""Functions on `Num` values, under NumPy's names where it has them: the notation of the function expansions.

r = fma(n, -LN2, x)
y = where(x < 0.0, NAN, polynomial(r, COEFFICIENTS))
"""

from __future__ import annotations

from collections.abc import Sequence

from dlc.lowering.affine_to_llvm.math.math_emitter import Num, Operand


def _first_num(operands: Sequence[Operand]) -> Num:
    return next(operand for operand in operands if isinstance(operand, Num))


def fma(a: Operand, b: Operand, c: Operand) -> Num:
    """a * b + c with one rounding."""
    first = _first_num((a, b, c))
    return first.emitter.op("math.fma", (first.like(a), first.like(b), first.like(c)), first.kind)


def where(condition: Num, a: Operand, b: Operand) -> Num:
    """`a` where `condition` holds, else `b`; at least one of them is a `Num`."""
    first = _first_num((a, b))
    return first.emitter.op("arith.select", (condition, first.like(a), first.like(b)), first.kind)


def minimum(x: Num, high: Operand) -> Num:
    """The smaller of both; a NaN stays one. The order of the operands makes it a single instruction."""
    bound = x.like(high)
    return where(bound < x, bound, x)


def clamp(x: Num, low: Operand, high: Operand) -> Num:
    """`x` within [low, high]; a NaN stays one."""
    bound = x.like(low)
    return minimum(where(bound > x, bound, x), high)


def unary(name: str, x: Num) -> Num:
    """`math.<name>` of `x`, one of the ops that are instructions: sqrt, roundeven, trunc."""
    return x.emitter.op(f"math.{name}", (x,), x.kind)


def copysign(magnitude: Num, sign: Num) -> Num:
    """`magnitude` with the sign of `sign`."""
    return magnitude.emitter.op("math.copysign", (magnitude, sign), magnitude.kind)


def polynomial(x: Num, coefficients: Sequence[float]) -> Num:
    """Horner's rule; `coefficients` go from low to high."""
    result = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = fma(result, x, coefficient)
    return result


def odd_quotient(x: Num, limit: float, numerator: Sequence[float], denominator: Sequence[float]) -> Num:
    """x * numerator(x^2) / denominator(x^2) with x within +-limit, cut to +-1; at `limit` it must be 1 or more.

    With the sign taken off, put back and 1 chosen beyond the limit it is five instructions more.
    """
    x = clamp(x, -limit, limit)
    square = x * x
    return clamp(x * (polynomial(square, numerator) / polynomial(square, denominator)), -1.0, 1.0)
