"""asin, acos, atan, atan2. The polynomials are minimax fits of the relative error, given beside each."""

from __future__ import annotations

from dlc.lowering.affine_to_llvm.math.math_emitter import Num
from dlc.lowering.affine_to_llvm.math.math_notation import copysign, polynomial, unary, where

# (atan(r) - r) / r^3 in r^2, |r| <= 0.4143: 2^-30.5, 2^-64.2 of atan(r).
ATAN = {
    32: (-0.33333316445350647, 0.19998469948768616, -0.14243504405021667, 0.10593537986278534, -0.06077400967478752),
    64: (
        -0.33333333333333326,
        0.1999999999999764,
        -0.14285714285384757,
        0.11111111087994138,
        -0.09090908138513724,
        0.07692282635001634,
        -0.06666225094630134,
        0.05877006955091919,
        -0.052183172113293125,
        0.04503225814326743,
        -0.03346757742728337,
        0.015188774164493083,
    ),
}
# (asin(r) - r) / r^3 in r^2, |r| <= 0.5: 2^-31.7, 2^-59.9 of asin(r).
ASIN = {
    32: (
        0.16666659712791443,
        0.07500504702329636,
        0.044516805559396744,
        0.03180920332670212,
        0.01443207822740078,
        0.037526797503232956,
    ),
    64: (
        0.1666666666666676,
        0.07499999999970633,
        0.04464285717477941,
        0.030381942699363323,
        0.022372215235052038,
        0.017351607396624575,
        0.013980877871119724,
        0.011398427672070237,
        0.01078305287476017,
        0.0036955230521827733,
        0.021734666195488014,
        -0.021038596123255367,
        0.03265396831750707,
    ),
}
HALF_PI = {32: (1.5707963705062866, -4.371138828673793e-08), 64: (1.5707963267948966, 6.123233995736766e-17)}
QUARTER_PI = {32: (0.7853981852531433, -2.1855694143368964e-08), 64: (0.7853981633974483, 3.061616997868383e-17)}
PI = {32: (3.1415927410125732, -8.742277657347586e-08), 64: (3.141592653589793, 1.2246467991473532e-16)}
TAN_PI_8 = 0.41421356237309503
TAN_3_PI_8 = 2.414213562373095


def _series(r: Num, coefficients: tuple[float, ...]) -> Num:
    """What an odd function r + r^3 P(r^2) adds to r."""
    square = r * r
    return square * r * polynomial(square, coefficients)


def _atan_ratio(numerator: Num, denominator: Num) -> tuple[Num, Num]:
    """atan(numerator / denominator) of numbers >= 0, as a sum; reduced around 0, pi/4 and pi/2 with one division."""
    bits = numerator.format.bits
    steep = numerator > TAN_3_PI_8 * denominator
    middle = numerator > TAN_PI_8 * denominator
    top = where(steep, -denominator, where(middle, numerator - denominator, numerator))
    bottom = where(steep, numerator, where(middle, numerator + denominator, denominator))
    r = top / bottom
    base, base_low = (
        where(steep, half, where(middle, quarter, r.like(0.0)))
        for half, quarter in zip(HALF_PI[bits], QUARTER_PI[bits], strict=True)
    )
    return base, r + (_series(r, ATAN[bits]) + base_low)


def atan(x: Num) -> Num:
    """Arc tangent: about 2 ulp."""
    base, rest = _atan_ratio(abs(x), x.like(1.0))
    return copysign(base + rest, x)


def atan2(y: Num, x: Num) -> Num:
    """The angle of the point (x, y), with IEEE 754's special cases: about 2 ulp."""
    a, b = abs(y), abs(x)
    infinity = float("inf")
    both_zero = a.equals(0.0) & b.equals(0.0)
    both_infinite = a.equals(infinity) & b.equals(infinity)
    # Halving twice keeps the sum of two huge numbers finite; equal numbers stand for inf / inf, 0 / 1 for 0 / 0.
    huge = (a > 2.0 ** (y.format.bias - 1)) | (b > 2.0 ** (y.format.bias - 1))
    a, b = where(huge, 0.25 * a, a), where(huge, 0.25 * b, b)
    a = where(both_infinite, 1.0, a)
    b = where(both_infinite | both_zero, 1.0, b)
    base, rest = _atan_ratio(a, b)
    high, low = PI[y.format.bits]
    angle = where(x.bits() < 0, (high - base) - (rest - low), base + rest)
    return copysign(angle, y)


def asin(x: Num) -> Num:
    """Arc sine: about 2 ulp; asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) above 1/2, NaN outside [-1, 1]."""
    a, s, rest = _half_angle(x)
    high, low = HALF_PI[x.format.bits]
    return copysign(where(a > 0.5, high - (2.0 * s - (low - 2.0 * rest)), s + rest), x)


def acos(x: Num) -> Num:
    """Arc cosine: about 2 ulp; NaN outside [-1, 1]."""
    a, s, rest = _half_angle(x)
    negative = x < 0.0
    twice, twice_rest = 2.0 * s, 2.0 * rest
    half_pi, half_pi_low = HALF_PI[x.format.bits]
    pi, pi_low = PI[x.format.bits]
    outer = where(negative, pi - (twice + (twice_rest - pi_low)), twice + twice_rest)
    signed, signed_rest = where(negative, -s, s), where(negative, -rest, rest)
    return where(a > 0.5, outer, half_pi - (signed - (half_pi_low - signed_rest)))


def _half_angle(x: Num) -> tuple[Num, Num, Num]:
    """|x|, and s and rest with s + rest = asin(s), where s is |x| up to 1/2 and sqrt((1 - |x|) / 2) above."""
    a = abs(x)
    s = where(a > 0.5, unary("sqrt", 0.5 - 0.5 * a), a)
    return a, s, _series(s, ASIN[x.format.bits])
