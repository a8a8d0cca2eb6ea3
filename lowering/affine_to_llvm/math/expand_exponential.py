"""exp, exp2, expm1, sinh, cosh, tanh.

exp(x) = 2^n * exp(r) with n = round(x / ln 2), |r| <= ln(2) / 2. All polynomials are minimax fits of the relative error
(Remez, 200 bits); the error given beside each is the fit's own.
"""

from __future__ import annotations

from dlc.lowering.affine_to_llvm.math.math_emitter import Num
from dlc.lowering.affine_to_llvm.math.math_intrinsics import has_scalef, may_scalef, scalef
from dlc.lowering.affine_to_llvm.math.math_notation import clamp, copysign, fma, minimum, odd_quotient, polynomial, where

LOG2_E = 1.4426950408889634
LN2 = {32: (0.6931471824645996, -1.9046542121259336e-09), 64: (0.6931471805599453, 2.3190468138462996e-17)}
"""ln 2 as the nearest number and what is left. n * LN2[0] is not rounded within an fma, so the first step is exact."""

EXP = {  # exp(r), |r| <= ln(2) / 2: 2^-28.3, 2^-64.0
    32: (
        1.0,
        1.0,
        0.4999999403953552,
        0.1666651964187622,
        0.04166839271783829,
        0.008368780836462975,
        0.0013814468402415514,
    ),
    64: (
        1.0,
        1.0,
        0.5,
        0.16666666666666682,
        0.04166666666666609,
        0.00833333333331692,
        0.0013888888889117446,
        0.00019841269896677343,
        2.4801586924313128e-05,
        2.755723456117158e-06,
        2.7557583000863725e-07,
        2.511214396648592e-08,
        2.0826483289455377e-09,
    ),
}
EXP_SHORT_F32 = (  # exp(r), |r| <= ln(2) / 2: 2^-23.4
    1.0,
    0.9999997071911065,
    0.4999914952754245,
    0.16667636191054133,
    0.041897929599310865,
    0.008290314925017271,
)
EXP_WIDE_F32 = (  # exp(r), |r| <= ln 2: 2^-26.1
    1.0,
    1.0,
    0.5000003576278687,
    0.16666613519191742,
    0.04166126996278763,
    0.008336112834513187,
    0.0014104447327554226,
    0.00019610476738307625,
)
EXP2 = {  # 2^r, |r| <= 1/2: 2^-28.5, 2^-63.9
    32: (
        1.0,
        0.6931472420692444,
        0.24022652208805084,
        0.05550310015678406,
        0.009617690928280354,
        0.0013406797079369426,
        0.0001559508964419365,
    ),
    64: (
        1.0,
        0.6931471805599453,
        0.24022650695910072,
        0.055504108664821736,
        0.009618129107628562,
        0.0013333558146381354,
        0.00015403530393170151,
        1.5252733865220333e-05,
        1.3215487004689727e-06,
        1.0178047372991733e-07,
        7.0548144501109825e-09,
        4.457263345294035e-10,
        2.5855588936570393e-11,
    ),
}
EXPM1 = {  # (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2: 2^-31.8, 2^-68.0 of exp(r) - 1
    32: (
        0.5,
        0.1666666716337204,
        0.04166632518172264,
        0.008333219215273857,
        0.0013943316880613565,
        0.00019962592341471463,
    ),
    64: (
        0.5,
        0.16666666666666666,
        0.0416666666666667,
        0.008333333333333345,
        0.001388888888887008,
        0.00019841269841207115,
        2.480158735391581e-05,
        2.7557319363673937e-06,
        2.755724844645269e-07,
        2.505196664200068e-08,
        2.0922710055293415e-09,
        1.6120393412523275e-10,
    ),
}
# tanh(x) / x as a quotient of polynomials in x^2, |x| <= 9.02: 2^-29.5 (Lawson's iteration, 120 bits).
TANH_NUMERATOR = (
    1.0,
    0.13679957389831543,
    0.0038683784659951925,
    2.8008391382172704e-05,
    3.0586903676521615e-08,
    -1.2204536860294102e-11,
)
TANH_DENOMINATOR = (1.0, 0.47013288736343384, 0.027246028184890747, 0.00039387174183502793, 1.2874269259555149e-06)
TANH_LIMIT = 9.02
"""tanh rounds to 1 in f32 from here on."""
TANH_SCALE = 2.0**-9
"""The denominator times this is within [2^-9, 1], so that a product with it is finite where the other factor is."""

RANGE = {32: (-104.0, 89.5), 64: (-746.0, 710.5)}
"""Beyond these exp is 0 or infinite, and so are sinh and cosh."""


LOWEST_NORMAL_EXP = -87.33654
"""exp of this is the smallest normal f32 number, and a bit."""

LOWEST_ADDED_EXP = -87.3
"""Half of e^x still has an exponent field that is not below 0; e^x is nothing beside 1."""


def round_scaled(x: Num, scale: float) -> tuple[Num, Num]:
    """n = round(x * scale), ties to even, as a float and as an integer of the same width; needs |n| < 2^21."""
    magic = x.format.round_magic
    shifted = fma(x, scale, magic)
    return shifted - magic, shifted.bits() - x.format.round_magic_bits


def power_of_two(n: Num) -> Num:
    """2^n for an integer n within the exponents of normal numbers."""
    return ((n + n.format.bias) << n.format.mantissa_bits).as_float()


def scale(x: Num, n: Num) -> Num:
    """x * 2^n for |n| up to twice the exponents' range, rounded once: overflow and subnormal results come out right."""
    layout = n.format
    biased = n + 2 * layout.bias
    half = biased >> 1
    return x * (half << layout.mantissa_bits).as_float() * ((biased - half) << layout.mantissa_bits).as_float()


def reduce_ln2(x: Num) -> tuple[Num, Num]:
    """r and the integer n with x = n * ln 2 + r, |r| <= ln(2) / 2."""
    high, low = LN2[x.format.bits]
    n, n_bits = round_scaled(x, LOG2_E)
    return fma(n, -low, fma(n, -high, x)), n_bits


def exp(x: Num) -> Num:
    """e^x: about 1 ulp. On one target, scalars and vectors of any size get the same bits."""
    bits = x.format.bits
    if has_scalef(x):
        return _exp_by_scalef(x)
    if bits == 32 and not may_scalef(x):
        return _exp_f32(x)
    r, n = reduce_ln2(clamp(x, *RANGE[bits]))
    return scale(polynomial(r, EXP[bits]), n)


def _exp_by_scalef(x: Num) -> Num:
    """2^n * exp(r), |r| <= ln(2) / 2: 13 instructions in f32, 3 fewer than without, and no products of subnormals."""
    bits = x.format.bits
    x = clamp(x, *RANGE[bits])
    magic = x.format.round_magic
    n = fma(x, LOG2_E, magic) - magic
    high, low = LN2[bits]
    return scalef(polynomial(fma(n, -low, fma(n, -high, x)), EXP[bits]), n)


def _exp_f32(x: Num) -> Num:
    """4^n * exp(r), |r| <= ln 2: 2^n never leaves the normal numbers, so two products with it scale to any result."""
    x = clamp(x, *RANGE[32])
    # With the bias in the constant the low bits of the sum are the exponent field of 2^n.
    magic = x.format.round_magic + x.format.bias
    shifted = fma(x, 0.5 * LOG2_E, magic)
    n = shifted - magic
    high, low = LN2[32]
    r = fma(n, -2.0 * low, fma(n, -2.0 * high, x))
    root = (shifted.bits() << x.format.mantissa_bits).as_float()
    return polynomial(r, EXP_WIDE_F32) * root * root


def exp_of_nonpositive(x: Num) -> Num:
    """e^x for x <= 0 or NaN, in f32: up to 5 ulp, and 0 where e^x has no normal number.

    A quarter fewer instructions than `exp`. What is far below the largest element of a row costs no subnormal arithmetic,
    which takes some hundred cycles a vector.
    """
    if x.format.bits != 32:
        return exp(x)
    magic = x.format.round_magic + x.format.bias
    shifted = fma(x, LOG2_E, magic)
    r = fma(shifted - magic, -sum(LN2[32]), x)
    power = (shifted.bits() << x.format.mantissa_bits).as_float()
    return where(x < LOWEST_NORMAL_EXP, 0.0, polynomial(r, EXP_SHORT_F32) * power)


def exp_plus_one(x: Num, negated: bool = False) -> Num:
    """1 + e^x in f32, or 1 + e^-x: 3 ulp, in four instructions less than `exp` and a sum.

    e^x is 2p * 2^(n-1): infinite just where it should be, and 0 where it has no normal number, which the sum does not show.
    """
    sign = -1.0 if negated else 1.0
    lowest, highest = sorted((sign * LOWEST_ADDED_EXP, sign * RANGE[32][1]))
    x = clamp(x, lowest, highest)
    magic = x.format.round_magic + x.format.bias - 1
    shifted = fma(x, sign * LOG2_E, magic)
    n = shifted - magic
    high, low = LN2[32]
    r = fma(n, -low, fma(n, -high, -x if negated else x))
    half = (shifted.bits() << x.format.mantissa_bits).as_float()
    return fma(polynomial(r, [2.0 * coefficient for coefficient in EXP_SHORT_F32]), half, 1.0)


def exp_with_tail(high: Num, low: Num) -> Num:
    """e^(high + low) for a low part far below an ulp of 1."""
    bits = high.format.bits
    r, n = reduce_ln2(clamp(high, *RANGE[bits]))
    p = polynomial(r, EXP[bits])
    return scale(fma(p, low, p), n)


def half_exp(x: Num) -> Num:
    """e^x / 2, which is finite where cosh(x) is."""
    bits = x.format.bits
    r, n = reduce_ln2(clamp(x, *RANGE[bits]))
    return scale(polynomial(r, EXP[bits]), n - 1)


def exp2(x: Num) -> Num:
    """2^x: about 1 ulp."""
    bits = x.format.bits
    limit = 2.0 * x.format.bias
    x = clamp(x, -limit, limit)
    n, n_bits = round_scaled(x, 1.0)
    return scale(polynomial(x - n, EXP2[bits]), n_bits)


def _half_expm1(x: Num) -> Num:
    """(e^x - 1) / 2; finite where sinh(x) is. Not exact in the sign of zero and in subnormals."""
    bits = x.format.bits
    lowest = -2.0 * x.format.mantissa_bits
    r, n = reduce_ln2(clamp(x, lowest, RANGE[bits][1]))
    reduced = fma(r * r, polynomial(r, EXPM1[bits]), r)
    quarter = power_of_two(n - 2)
    return 2.0 * fma(quarter, reduced, quarter - 0.25)


def keep_small(x: Num, result: Num) -> Num:
    """`x` where it is so small that f(x) rounds to x, else `result`; keeps -0 and subnormals."""
    return where(abs(x) < 2.0 ** -(x.format.mantissa_bits + 2), x, result)


def expm1(x: Num) -> Num:
    """e^x - 1: about 2 ulp, for small x too."""
    return keep_small(x, 2.0 * _half_expm1(x))


def sinh(x: Num) -> Num:
    """(e^x - e^-x) / 2 = h + h / (2 h + 1) with h = (e^|x| - 1) / 2: about 2 ulp."""
    h = _half_expm1(abs(x))
    correction = where(h > 2.0 ** (x.format.mantissa_bits + 2), 0.0, h / fma(2.0, h, 1.0))
    return keep_small(x, copysign(h + correction, x))


def cosh(x: Num) -> Num:
    """(e^x + e^-x) / 2: about 2 ulp."""
    h = half_exp(abs(x))
    return h + 0.25 / h


def tanh(x: Num) -> Num:
    """tanh x: a rational function in f32, m / (m + 2) with m = e^2|x| - 1 in f64; 5 and 3 ulp."""
    if x.format.bits == 32:
        return _tanh_f32(x)
    h = _half_expm1(minimum(2.0 * abs(x), 44.0))
    return keep_small(x, copysign(h / (h + 1.0), x))


def _tanh_f32(x: Num) -> Num:
    return odd_quotient(x, TANH_LIMIT, TANH_NUMERATOR, TANH_DENOMINATOR)


def tanh_over(x: Num, divisor: Num) -> Num:
    """tanh(x) / divisor in f32 by one division, which is what such a pair of functions is bound by; 5 ulp.

    `divisor` is 1 or more. Below 2^-117, tanh(x) is off by up to 2^-140.
    """
    x = clamp(x, -TANH_LIMIT, TANH_LIMIT)
    square = x * x
    numerator, denominator = (
        polynomial(square, [TANH_SCALE * coefficient for coefficient in fit]) for fit in (TANH_NUMERATOR, TANH_DENOMINATOR)
    )
    return clamp(x * numerator, -denominator, denominator) / (denominator * divisor)
