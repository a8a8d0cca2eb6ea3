"""sin, cos, sincos, tan.

x = q * pi/2 + r with |r| <= pi/4. Up to `FAST_LIMIT` the product q * pi/2 is subtracted in three parts (Cody and Waite;
with fma the first step is exact). Larger arguments branch, once for all lanes, to an exact reduction (Payne and Hanek):
one scalar function a module, called lane by lane.
"""

from __future__ import annotations

from dlc.lowering.affine_to_llvm.math.expand_exponential import round_scaled
from dlc.lowering.affine_to_llvm.math.math_emitter import Num
from dlc.lowering.affine_to_llvm.math.math_notation import fma, polynomial, where
from dlc.lowering.affine_to_llvm.math.reduce_huge_angle import reduce_huge_lanes

# (sin(r) - r) / r^3 in r^2, |r| <= pi/4: 2^-37.5, 2^-68.7 of sin(r).
SIN = {
    32: (-0.1666666716337204, 0.008333329111337662, -0.0001983930415008217, 2.7180467441212386e-06),
    64: (
        -0.16666666666666666,
        0.008333333333333323,
        -0.0001984126984125465,
        2.7557319213985055e-06,
        -2.505210486075535e-08,
        1.6058360438050374e-10,
        -7.578403203090361e-13,
    ),
}
# (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi/4: 2^-33.0, 2^-63.9 of cos(r).
COS = {
    32: (0.04166664555668831, -0.0013887309469282627, 2.443241282890085e-05),
    64: (
        0.041666666666666595,
        -0.0013888888888872902,
        2.4801587288751063e-05,
        -2.755731414918293e-07,
        2.0875696621657464e-09,
        -1.135831200028978e-11,
    ),
}
TWO_OVER_PI = 0.6366197723675814
HALF_PI = {
    32: (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    64: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
FAST_LIMIT = {32: 2.0**17, 64: 2.0**28}
"""Largest |x| for which three parts of pi/2 give r to the last bit."""

Angle = tuple[Num, Num, Num]
"""r, what r lacks, and the integer q."""


def _reduce(x: Num) -> Angle:
    """x as q * pi/2 + r + low."""
    n, q = round_scaled(x, TWO_OVER_PI)
    first, second, third = HALF_PI[x.format.bits]
    r = fma(n, -first, x)
    if x.format.bits == 32:
        fast = fma(n, -third, fma(n, -second, r)), x.like(0.0), q
    else:
        fast = _subtract_tail(r, n, second, third, q)
    return reduce_huge_lanes(x, FAST_LIMIT[x.format.bits], fast)


def _subtract_tail(r: Num, n: Num, second: float, third: float, q: Num) -> Angle:
    """r - n * (second + third) as a number and what it lacks."""
    product = n * second
    product_low = fma(n, second, -product)
    high = r - product
    part = high - r
    error = (r - (high - part)) - (product + part)
    return high, fma(n, -third, error - product_low), q


def _sin_kernel(r: Num, low: Num) -> Num:
    square = r * r
    tail = fma(square * r, polynomial(square, SIN[r.format.bits]), low)
    return r + (tail if r.format.bits == 32 else fma(square, -0.5 * low, tail))


def _cos_kernel(r: Num, low: Num) -> Num:
    square = r * r
    tail = square * square * polynomial(square, COS[r.format.bits])
    if r.format.bits == 32:
        return fma(square, -0.5, 1.0) + tail
    half = 0.5 * square
    head = 1.0 - half
    return head + (((1.0 - head) - half) + fma(-r, low, tail))


def _negate_if_bit_1(x: Num, q: Num) -> Num:
    """-x where q's bit 1 is set."""
    return (x.bits() ^ ((q << (x.format.bits - 2)) & x.format.sign_bit)).as_float()


def _select(x: Num) -> Angle:
    """sin(x) and cos(x) up to their signs, and q."""
    r, low, q = _reduce(x)
    sine, cosine = _sin_kernel(r, low), _cos_kernel(r, low)
    odd = (q & 1).equals(1)
    return where(odd, cosine, sine), where(odd, sine, cosine), q


def _keep_zero(x: Num, result: Num) -> Num:
    """x where it is 0, which keeps -0."""
    return where(x.equals(0.0), x, result)


def sincos(x: Num) -> tuple[Num, Num]:
    """Sine and cosine: about 2 ulp in f32, 1 ulp in f64, for arguments of any size."""
    sine, cosine, q = _select(x)
    return _keep_zero(x, _negate_if_bit_1(sine, q)), _negate_if_bit_1(cosine, q + 1)


def sin(x: Num) -> Num:
    """Sine: see `sincos`."""
    sine, _, q = _select(x)
    return _keep_zero(x, _negate_if_bit_1(sine, q))


def cos(x: Num) -> Num:
    """Cosine: see `sincos`."""
    _, cosine, q = _select(x)
    return _negate_if_bit_1(cosine, q + 1)


def tan(x: Num) -> Num:
    """Tangent: about 3 ulp; the quotient of the two kernels, negated in odd quadrants."""
    sine, cosine, q = _select(x)
    return _keep_zero(x, _negate_if_bit_1(sine / cosine, q << 1))
