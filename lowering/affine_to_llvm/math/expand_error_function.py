"""erf. The polynomials are minimax fits; the error given beside each is the fit's own."""

from __future__ import annotations

from dlc.lowering.affine_to_llvm.math.expand_exponential import exp
from dlc.lowering.affine_to_llvm.math.math_emitter import Num
from dlc.lowering.affine_to_llvm.math.math_notation import copysign, fma, minimum, odd_quotient, polynomial, where

# erf(x) / x as a quotient of polynomials in x^2, |x| <= 3.93: 2^-29.0 (Lawson's iteration, 120 bits).
NUMERATOR = (
    1.128379225730896,
    0.18515382707118988,
    0.05425445735454559,
    0.0038404022343456745,
    0.0003771244955714792,
    4.618766070052516e-06,
    -1.28517383402027e-08,
)
DENOMINATOR = (
    1.0,
    0.4974217116832733,
    0.11388851702213287,
    0.01543490868061781,
    0.0013023738283663988,
    6.248863792279735e-05,
)
LIMIT = 3.9299998
"""erf rounds to 1 in f32 from here on, and so does the quotient."""

# erf(x) / x - 1 in x^2, |x| <= 1: 2^-62.4 of erf(x).
ERF_SMALL = (
    0.1283791670955126,
    -0.3761263890318375,
    0.11283791670954794,
    -0.026866170645060642,
    0.005223977624657801,
    -0.0008548326971465066,
    0.00012055330764683669,
    -1.49255868168386e-05,
    1.6460863334234441e-06,
    -1.6348843781434434e-07,
    1.4649807312139663e-08,
    -1.1334025038038142e-09,
    5.891074589265633e-11,
)
# log(1 - erf(x)), 1 <= x <= 5.95: 2^-63 of erf(x).
LOG_ERFC = (
    2.3672874605545908e-08,
    -1.1283794737215416,
    -0.6366178962809291,
    -0.10277981765313272,
    0.019148014861727434,
    0.00016937524830688543,
    -0.0016330942107053974,
    0.0005103256282022174,
    5.5842746862815264e-05,
    -0.00013283213585630867,
    7.645587473568955e-05,
    -2.933772832465136e-05,
    8.56417386645141e-06,
    -1.9768023570168516e-06,
    3.6392656267826044e-07,
    -5.3059252511668165e-08,
    6.005801350266056e-09,
    -5.09440676041462e-10,
    3.047754269942325e-11,
    -1.1464014358778359e-12,
    2.0380860447385758e-14,
)
ERFC_VANISHES = 5.95
"""From here on 1 - erf(x) is below half an ulp of 1 in f64."""


def erf(x: Num) -> Num:
    """Error function: about 5 ulp in f32 (one division, no exp), 1 ulp in f64."""
    return _erf_f32(x) if x.format.bits == 32 else _erf_f64(x)


def _erf_f32(x: Num) -> Num:
    return odd_quotient(x, LIMIT, NUMERATOR, DENOMINATOR)


def _erf_f64(x: Num) -> Num:
    a = minimum(abs(x), ERFC_VANISHES)
    small = fma(a, polynomial(a * a, ERF_SMALL), a)
    return copysign(where(a < 1.0, small, 1.0 - exp(polynomial(a, LOG_ERFC))), x)
