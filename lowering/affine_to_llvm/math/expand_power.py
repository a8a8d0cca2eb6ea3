"""pow and cbrt, rsqrt.

|x|^y = exp(y * log|x|). The logarithm needs more digits than the result has: f32 computes in f64, f64 in pairs of f64
numbers whose sum carries about 100 bits ("double-double").
"""

from __future__ import annotations

from dlc.lowering.affine_to_llvm.math.expand_exponential import exp, exp_with_tail
from dlc.lowering.affine_to_llvm.math.expand_logarithm import INFINITY, NAN, log, split_positive
from dlc.lowering.affine_to_llvm.math.math_emitter import Num
from dlc.lowering.affine_to_llvm.math.math_notation import clamp, copysign, fma, polynomial, unary, where

Pair = tuple[Num, Num]

LN2_SPLIT = (0.6931471805598903, 5.497923018708371e-14)
TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
# (log(1 + f) - 2 s - 2/3 s^3) / s^5 in s^2, where s = f / (2 + f): 2^-80.8 of log(1 + f).
LOG_TAIL = (
    0.4,
    0.28571428571428376,
    0.2222222222229041,
    0.18181818169277805,
    0.1538461675107463,
    0.13333240546515743,
    0.11768670398193476,
    0.10422961192834387,
    0.11012907638263505,
)


def _sum(a: Num, b: Num) -> Pair:
    """a + b without error, for any a and b."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _ordered_sum(a: Num, b: Num) -> Pair:
    """a + b without error, for |a| >= |b|."""
    total = a + b
    return total, b - (total - a)


def _product(a: Pair, b: Pair) -> Pair:
    """The product of two pairs, to about 100 bits."""
    high = a[0] * b[0]
    low = fma(a[0], b[0], -high)
    return _ordered_sum(high, fma(a[0], b[1], fma(a[1], b[0], low)))


def _log_pair(x: Num) -> Pair:
    """log(x) of a positive finite f64 x, with a relative error near 2^-64."""
    n, f = split_positive(x)
    denominator, denominator_low = _ordered_sum(f.like(2.0), f)
    high = f / denominator
    low = fma(-high, denominator_low, fma(-high, denominator, f)) / denominator
    s = (high, low)
    square = _product(s, s)
    tail = square[0] * polynomial(square[0], LOG_TAIL)
    factor, factor_low = _ordered_sum(tail.like(TWO_THIRDS[0]), tail)
    cubic = _product(_product(square, s), (factor, factor_low + TWO_THIRDS[1]))
    total, error = _ordered_sum(2.0 * high, cubic[0])
    total, error = _ordered_sum(total, error + fma(2.0, low, cubic[1]))
    result, rest = _sum(n * LN2_SPLIT[0], total)
    return _ordered_sum(result, rest + fma(n, LN2_SPLIT[1], error))


def _positive_power_f32(x: Num, y: Num) -> Num:
    """x^y for a positive finite f32 x and finite y, through f64."""
    return exp(y.convert("f64") * log(x.convert("f64"))).convert("f32")


def _positive_power_f64(x: Num, y: Num) -> Num:
    """x^y for a positive finite f64 x and finite y."""
    # |log x| is at least 2^-53 unless x is 1, so a larger exponent changes nothing.
    y = clamp(y, -(2.0**66), 2.0**66)
    high, low = _log_pair(x)
    product = high * y
    rest = fma(low, y, fma(high, y, -product))
    return exp_with_tail(product, where(abs(product) < 1024.0, rest, 0.0))


def pow(x: Num, y: Num) -> Num:
    """x^y with IEEE 754's special cases: about 1 ulp."""
    magnitude = abs(x)
    finite_power = _positive_power_f32 if x.format.bits == 32 else _positive_power_f64
    result = finite_power(magnitude, y)
    shrinks = (magnitude < 1.0) ^ (y < 0.0)
    extreme = magnitude.equals(0.0) | magnitude.equals(INFINITY) | abs(y).equals(INFINITY)
    limit = where(magnitude.equals(1.0), 1.0, where(shrinks, 0.0, x.like(INFINITY)))
    result = where(extreme, limit, result)
    half = 0.5 * y
    whole = unary("trunc", y).equals(y)
    odd = whole & unary("trunc", half).differs(half)
    signed = where(odd, copysign(result, x), result)
    undefined = (x < 0.0) & (magnitude < INFINITY) & (abs(y) < INFINITY) & unary("trunc", y).differs(y)
    signed = where(undefined | x.is_nan() | y.is_nan(), NAN, signed)
    return where(x.equals(1.0) | y.equals(0.0), 1.0, signed)


def rsqrt(x: Num) -> Num:
    """1 / sqrt(x): about 1 ulp."""
    return 1.0 / unary("sqrt", x)


def cbrt(x: Num) -> Num:
    """Cube root: exp(log|x| / 3) and one Newton step, in f64; about 1 ulp."""
    wide = x.convert("f64")
    magnitude = abs(wide)
    tiny = magnitude < wide.format.min_normal
    # 2^54 and its cube root keep the square and cube of the root out of the subnormals.
    magnitude = where(tiny, magnitude * 2.0**54, magnitude)
    root = exp(log(magnitude) * (1.0 / 3.0))
    square = root * root
    root = fma(fma(-square, root, magnitude), 1.0 / (3.0 * square), root)
    root = where(tiny, root * 2.0**-18, root)
    usable = (magnitude > 0.0) & (magnitude < INFINITY)
    return where(usable, copysign(root, wide), wide).convert(x.kind)
