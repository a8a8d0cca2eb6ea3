"""log, log2, log10, log1p, and the inverse hyperbolic functions built on them.

x = 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), so that log(x) = n * ln 2 + log(1 + f). All polynomials are
minimax fits of the relative error; the error given beside each is the fit's own.
"""

from __future__ import annotations

from dlc.lowering.affine_to_llvm.math.expand_exponential import keep_small, power_of_two
from dlc.lowering.affine_to_llvm.math.math_emitter import Num
from dlc.lowering.affine_to_llvm.math.math_notation import copysign, fma, polynomial, unary, where

INFINITY = float("inf")
NAN = float("nan")

# (log(1 + f) - f + f^2 / 2) / f^3 in f: 2^-30.3 of log(1 + f).
LOG1P_F32 = (
    0.3333331346511841,
    -0.25000008940696716,
    0.2000211775302887,
    -0.1666799634695053,
    0.14219562709331512,
    -0.12405572086572647,
    0.118880994617939,
    -0.116757832467556,
    0.0674692764878273,
)
# (log(1 + f) - 2 s) / s^3 in s^2, where s = f / (2 + f): 2^-66.7 of log(1 + f).
LOG1P_F64 = (
    0.6666666666666666,
    0.40000000000006225,
    0.28571428569092994,
    0.22222222645787587,
    0.18181775742052095,
    0.15387087568639865,
    0.13250186955614351,
    0.132507277651233,
)
# The same in f32, f in [0, 1]: 2^-27.4.
LOG1P_UNIT_F32 = (0.666664183139801, 0.4002152681350708, 0.28001806139945984, 0.2801198959350586)
# The first part of each pair has trailing zeros, so that its product with an exponent is exact.
LN2_SPLIT = {32: (0.693145751953125, 1.428606765330187e-06), 64: (0.6931471805598903, 5.497923018708371e-14)}
LOG10_2_SPLIT = {32: (0.301025390625, 4.605039066518657e-06), 64: (0.30102999566383914, 1.42050232272661e-13)}
LOG2_E = {32: (1.4426950216293335, 1.925963033500011e-08), 64: (1.4426950408889634, 2.0355273740931033e-17)}
LOG10_E = {32: (0.4342944920063019, -1.0103049952192578e-08), 64: (0.4342944819032518, 1.098319650216765e-17)}
SQRT_HALF_BITS = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}


def split_exponent(x: Num) -> tuple[Num, Num]:
    """The integer n and 1 + f in [sqrt(1/2), sqrt(2)) with x = 2^n * (1 + f), for a positive normal x."""
    bits = x.bits()
    n = (bits - SQRT_HALF_BITS[x.format.bits]) >> x.format.mantissa_bits
    return n, (bits - (n << x.format.mantissa_bits)).as_float()


def integer_to_float(n: Num) -> Num:
    """A small integer as a float of its width; without AVX-512 there is no instruction for i64."""
    layout = n.format
    if layout.bits == 32:
        return n.convert(layout.float_kind)
    return (n + layout.round_magic_bits).as_float() - layout.round_magic


def split_positive(x: Num) -> tuple[Num, Num]:
    """n (a float) and f with x = 2^n * (1 + f), for any positive finite x."""
    layout = x.format
    shift = layout.mantissa_bits + 1
    tiny = x < layout.min_normal
    n, one_plus_f = split_exponent(where(tiny, x * 2.0**shift, x))
    exponent = integer_to_float(n)
    return where(tiny, exponent - float(shift), exponent), one_plus_f - 1.0


def log1p_parts(f: Num) -> tuple[Num, Num]:
    """A leading part and the rest of log(1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1): f and -f^2 / 2 + ..."""
    half_square = 0.5 * f * f
    if f.format.bits == 32:
        return f, fma(f * f * f, polynomial(f, LOG1P_F32), -half_square)
    s = f / (f + 2.0)
    square = s * s
    return f, s * fma(square, polynomial(square, LOG1P_F64), half_square) - half_square


def _log(n: Num, f: Num) -> Num:
    """n * ln 2 + log(1 + f)."""
    high, low = LN2_SPLIT[f.format.bits]
    leading, rest = log1p_parts(f)
    return fma(n, high, leading + fma(n, low, rest))


def _handle_domain(x: Num, result: Num) -> Num:
    """`result` with the values of a logarithm outside (0, inf): -inf at 0, NaN below, and inf and NaN themselves."""
    special = where(x.equals(0.0), -INFINITY, where(x < 0.0, NAN, x))
    return where((x > 0.0) & (x < INFINITY), result, special)


def log(x: Num) -> Num:
    """Natural logarithm: about 1 ulp."""
    return _handle_domain(x, _log(*split_positive(x)))


def _scaled_log(f: Num, factor: tuple[float, float]) -> tuple[Num, Num]:
    """log(1 + f) times a constant of two parts, as a rounded product and what it lacks."""
    leading, rest = log1p_parts(f)
    total = leading + rest
    product = total * factor[0]
    missing = (leading - total) + rest
    return product, fma(total, factor[1], fma(missing, factor[0], fma(total, factor[0], -product)))


def log2(x: Num) -> Num:
    """Binary logarithm: about 1 ulp, exact for powers of two."""
    n, f = split_positive(x)
    product, rest = _scaled_log(f, LOG2_E[x.format.bits])
    return _handle_domain(x, n + (product + rest))


def log10(x: Num) -> Num:
    """Decimal logarithm: about 2 ulp."""
    n, f = split_positive(x)
    high, low = LOG10_2_SPLIT[x.format.bits]
    product, rest = _scaled_log(f, LOG10_E[x.format.bits])
    return _handle_domain(x, fma(n, high, product + fma(n, low, rest)))


def log1p(x: Num) -> Num:
    """log(1 + x): about 2 ulp, for small x too. What 1 + x loses is added to f, which is then exact for small x."""
    total = 1.0 + x
    rounded = total - 1.0
    lost = (1.0 - (total - rounded)) + (x - rounded)
    n, one_plus_f = split_exponent(total)
    # For larger n the loss is far below an ulp, and 2^-n would leave the normal numbers.
    inverse = power_of_two(n.like(0) - where(n < 64, n, 64))
    f = fma(lost, inverse, one_plus_f - 1.0)
    result = _log(integer_to_float(n), f)
    special = where(x.equals(-1.0), -INFINITY, where(x < -1.0, NAN, x))
    return keep_small(x, where((x > -1.0) & (x < INFINITY), result, special))


def log1p_of_unit(x: Num) -> Num:
    """log(1 + x) for x in [0, 1] or NaN: 2 ulp in f32, in a third of the instructions."""
    if x.format.bits != 32:
        return log1p(x)
    s = x / (x + 2.0)
    square = s * s
    return fma(s * square, polynomial(square, LOG1P_UNIT_F32), s + s)


def asinh(x: Num) -> Num:
    """log(|x| + sqrt(x^2 + 1)) with the sign of x: about 3 ulp."""
    a = abs(x)
    square = a * a
    small = log1p(a + square / (1.0 + unary("sqrt", square + 1.0)))
    return keep_small(x, copysign(where(a > _large(x), log_twice(a), small), x))


def acosh(x: Num) -> Num:
    """log(x + sqrt(x^2 - 1)): about 3 ulp; NaN below 1."""
    t = x - 1.0
    small = log1p(t + unary("sqrt", t * (x + 1.0)))
    return where(x < 1.0, NAN, where(x > _large(x), log_twice(x), small))


def atanh(x: Num) -> Num:
    """log((1 + x) / (1 - x)) / 2: about 3 ulp; NaN outside [-1, 1]."""
    a = abs(x)
    return keep_small(x, copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x))


def _large(x: Num) -> float:
    """From here on sqrt(x^2 +- 1) rounds to x."""
    return 2.0 ** (x.format.mantissa_bits // 2 + 2)


def log_twice(x: Num) -> Num:
    """log(2 x), where 2 x may overflow."""
    n, f = split_positive(x)
    return _handle_domain(x, _log(n + 1.0, f))
