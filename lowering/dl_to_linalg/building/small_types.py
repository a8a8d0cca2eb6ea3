"""Scalars of the types that values are only stored in, which are i8 below dl: to and from f32 and i32 by integer arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlc._mlir import ir
from dlc.dialects.dl.storage import POWERS, SMALL_FLOATS, SMALL_INTS, SmallFloat, bits_of

if TYPE_CHECKING:
    from dlc.lowering.dl_to_linalg.building.scalars import Scalars

_SIGNIFICAND = 23
_BIAS = 127
_INFINITY = 0x7F800000
_NAN = 0x7FC00000
_MAGNITUDE = 0x7FFFFFFF


def read_small(b: Scalars, x: ir.Value, dtype: str) -> tuple[ir.Value, str]:
    """A stored i8 as a value of the type that is named beside it: f32, or i32."""
    code = b.create("arith.extui", [b.element("i32")], [x])
    if dtype in SMALL_INTS:
        return _signed(b, code, dtype), "i32"
    if dtype == POWERS:
        return _float(b, _power_bits(b, code)), "f32"
    return _read_float(b, code, SMALL_FLOATS[dtype]), "f32"


def write_small(b: Scalars, x: ir.Value, source: str, dtype: str, saturate: bool, rounding: str) -> ir.Value:
    """A scalar of any other type as the i8 that is stored. Floats come to small integers by i32."""
    if dtype in SMALL_INTS:
        code = b.binary("arith.andi", b.convert(x, source, "i32"), _int(b, (1 << SMALL_INTS[dtype]) - 1))
        return b.create("arith.trunci", [b.element("i8")], [_signed(b, code, dtype)])
    bits = b.create("arith.bitcast", [b.element("i32")], [_as_f32(b, x, source, odd=dtype != POWERS)])
    code = _power_code(b, bits, saturate, rounding) if dtype == POWERS else _float_code(b, bits, SMALL_FLOATS[dtype], saturate)
    return b.create("arith.trunci", [b.element("i8")], [code])


def same_bits(b: Scalars, x: ir.Value, dtype: str) -> ir.Value:
    """The low bits of a stored i8 as they are stored for a type of fewer than 8 bits: integers with a sign fill the byte."""
    spare = b.scalar(8 - bits_of(dtype), "i8")
    return b.binary("arith.shrsi" if dtype in ("i4", "i2") else "arith.shrui", b.binary("arith.shli", x, spare), spare)


def _signed(b: Scalars, code: ir.Value, dtype: str) -> ir.Value:
    """The number of the low bits of an i32."""
    spare = _int(b, 32 - SMALL_INTS[dtype])
    top = b.binary("arith.shli", code, spare)
    return b.binary("arith.shrui" if dtype.startswith("u") else "arith.shrsi", top, spare)


def _as_f32(b: Scalars, x: ir.Value, source: str, odd: bool) -> ir.Value:
    """An f32 that rounds as x does: where f32 does not hold x, towards zero with an odd last bit if `odd`."""
    if source in ("i64", "i32", "ui32", "ui64"):
        x, source = b.convert(x, source, "f64"), "f64"
    near = b.convert(x, source, "f32")
    if source != "f64" or not odd:
        return near
    back = b.convert(near, "f32", "f64")
    bits = b.create("arith.bitcast", [b.element("i32")], [near])
    beyond = b.compare("gt", b.unary("math.absf", back), b.unary("math.absf", x), "f64")
    below = b.select(beyond, b.arith("sub", bits, _int(b, 1), "i32"), bits)
    inexact = b.compare("ne", back, x, "f64")
    number = b.compare("eq", x, x, "f64")
    lossy = b.binary("arith.andi", inexact, number)
    return _float(b, b.select(lossy, b.binary("arith.ori", below, _int(b, 1)), bits))


def _read_float(b: Scalars, code: ir.Value, kind: SmallFloat) -> ir.Value:
    code = b.binary("arith.andi", code, _int(b, (2 << kind.magnitude_bits) - 1))
    magnitude = b.binary("arith.andi", code, _int(b, (1 << kind.magnitude_bits) - 1))
    moved = b.binary("arith.shli", magnitude, _int(b, _SIGNIFICAND - kind.significand))
    normal = b.arith("add", moved, _int(b, (_BIAS - kind.bias) << _SIGNIFICAND), "i32")
    count = b.create("arith.sitofp", [b.element("f32")], [magnitude])
    tiny = b.arith("mul", count, b.scalar(kind.least_normal * 2.0**-kind.significand, "f32"), "f32")
    tiny_bits = b.create("arith.bitcast", [b.element("i32")], [tiny])
    bits = b.select(b.compare("lt", magnitude, _int(b, 1 << kind.significand), "i32"), tiny_bits, normal)
    sign = b.binary("arith.shli", b.binary("arith.shrui", code, _int(b, kind.magnitude_bits)), _int(b, 31))
    if kind.infinity is not None:
        bits = b.select(_is(b, magnitude, kind.infinity), _int(b, _INFINITY), bits)
        bits = b.select(b.compare("gt", magnitude, _int(b, kind.infinity), "i32"), _int(b, _NAN), bits)
    elif kind.has_nan:
        bits = b.select(_is(b, code if not kind.has_negative_zero else magnitude, kind.nan), _int(b, _NAN), bits)
    return _float(b, b.binary("arith.ori", bits, sign))


def _float_code(b: Scalars, bits: ir.Value, kind: SmallFloat, saturate: bool) -> ir.Value:
    """The code of the nearest number, halves to the even one."""
    magnitude = b.binary("arith.andi", bits, _int(b, _MAGNITUDE))
    is_tiny = b.compare("lt", magnitude, _bits_of(b, kind.least_normal), "i32")
    code = b.select(is_tiny, _tiny(b, magnitude, kind), _normal(b, magnitude, kind))
    ends = kind.largest if saturate or not kind.has_nan else kind.nan if kind.infinity is None else kind.infinity
    code = b.select(b.compare("gt", code, _int(b, kind.largest), "i32"), _int(b, ends), code)
    sign = b.binary("arith.shli", b.binary("arith.shrui", bits, _int(b, 31)), _int(b, kind.magnitude_bits))
    if not kind.has_negative_zero:
        sign = b.select(_is(b, code, 0), _int(b, 0), sign)
    code = b.binary("arith.ori", code, sign)
    is_nan = b.compare("gt", magnitude, _int(b, _INFINITY), "i32")
    return b.select(is_nan, _nan_code(b, sign, kind), code)


def _nan_code(b: Scalars, sign: ir.Value, kind: SmallFloat) -> ir.Value:
    """NaN keeps its sign where the format has one for it."""
    signed = kind.has_nan and kind.has_negative_zero
    return b.binary("arith.ori", _int(b, kind.nan), sign) if signed else _int(b, kind.nan)


def _normal(b: Scalars, magnitude: ir.Value, kind: SmallFloat) -> ir.Value:
    dropped = _SIGNIFICAND - kind.significand
    last = b.binary("arith.andi", b.binary("arith.shrui", magnitude, _int(b, dropped)), _int(b, 1))
    rounded = b.arith("add", b.arith("add", magnitude, last, "i32"), _int(b, (1 << (dropped - 1)) - 1), "i32")
    code = b.binary("arith.shrui", rounded, _int(b, dropped))
    return b.arith("sub", code, _int(b, (_BIAS - kind.bias) << kind.significand), "i32")


def _tiny(b: Scalars, magnitude: ir.Value, kind: SmallFloat) -> ir.Value:
    """The number of steps of a subnormal; larger numbers, whose code is not used, stay within i32."""
    step = kind.least_normal * 2.0**-kind.significand
    steps = b.arith("mul", _float(b, magnitude), b.scalar(1 / step, "f32"), "f32")
    few = b.binary("arith.minnumf", steps, b.scalar(float(1 << 20), "f32"))
    return b.create("arith.fptosi", [b.element("i32")], [b.unary("math.roundeven", few)])


def _power_bits(b: Scalars, code: ir.Value) -> ir.Value:
    """The f32 of an exponent; the least is a subnormal."""
    bits = b.binary("arith.shli", code, _int(b, _SIGNIFICAND))
    bits = b.select(_is(b, code, 0), _int(b, 1 << (_SIGNIFICAND - 1)), bits)
    return b.select(_is(b, code, 0xFF), _int(b, _NAN), bits)


def _power_code(b: Scalars, bits: ir.Value, saturate: bool, rounding: str) -> ir.Value:
    """The exponent of an f32, moved up by one as `rounding` wants it."""
    exponent = b.binary("arith.andi", b.binary("arith.shrui", bits, _int(b, _SIGNIFICAND)), _int(b, 0xFF))
    if rounding == "down":
        return exponent
    rest = b.binary("arith.andi", bits, _int(b, (1 << _SIGNIFICAND) - 1))
    up = b.compare("gt", rest, _int(b, 0), "i32")
    if rounding == "nearest":
        half = _int(b, 1 << (_SIGNIFICAND - 1))
        tie = b.binary("arith.andi", b.compare("eq", rest, half, "i32"), b.compare("gt", exponent, _int(b, 0), "i32"))
        up = b.binary("arith.ori", b.compare("gt", rest, half, "i32"), tie)
    inside = b.compare("lt", exponent, _int(b, 0xFE if saturate else 0xFF), "i32")
    step = b.select(b.binary("arith.andi", up, inside), _int(b, 1), _int(b, 0))
    return b.arith("add", exponent, step, "i32")


def _int(b: Scalars, value: int) -> ir.Value:
    return b.scalar(value, "i32")


def _float(b: Scalars, bits: ir.Value) -> ir.Value:
    return b.create("arith.bitcast", [b.element("f32")], [bits])


def _bits_of(b: Scalars, value: float) -> ir.Value:
    return b.create("arith.bitcast", [b.element("i32")], [b.scalar(value, "f32")])


def _is(b: Scalars, x: ir.Value, value: int) -> ir.Value:
    return b.compare("eq", x, _int(b, value), "i32")
