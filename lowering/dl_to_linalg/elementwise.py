"""Lowerings of elementwise arithmetic: one `linalg.generic` with the scalar formula."""

from __future__ import annotations

import math
from collections.abc import Callable

from dlc._mlir import ir
from dlc.dialects.dl.storage import bits_of
from dlc.dialects.dl.types import FLOATS, UNSIGNED_INTS, width_of
from dlc.lowering.dl_to_linalg.building.broadcasting import broadcast_extents, expand_ones
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import operand_name, require_no_zero
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.small_types import same_bits

_ROUNDINGS = {"floor": "math.floor", "ceil": "math.ceil", "round": "math.roundeven", "trunc": "math.trunc"}


def lower_elementwise(b: Builder, op: SourceOp, body: Callable[..., ir.Value]) -> ir.Value:
    """Broadcast all operands and apply `body` to scalars of the operands' dtypes (f16 and bf16 widened to f32).

    `body` returns a scalar of the result's dtype, or f32 where that is f16 or bf16.
    """
    whole = [value for value, kind in zip(op.operands, op.types, strict=True) if kind.shape == op.result.shape]
    extents = b.shape(whole[0]) if whole else broadcast_extents(b, op.operands, op.types)
    values = [
        expand_ones(b, value, kind, extents, op.result, operand_name(op, index))
        for index, (value, kind) in enumerate(zip(op.operands, op.types, strict=True))
    ]

    def widened(*scalars: ir.Value) -> ir.Value:
        wide = [b.widen(scalar, kind.dtype) for scalar, kind in zip(scalars, op.types, strict=True)]
        return b.narrow(body(*wide), op.result.dtype)

    return b.map(values, extents, op.result.dtype, widened)


@lowering("add", "sub", "mul", "max", "min")
def lower_arithmetic(b: Builder, op: SourceOp) -> ir.Value:
    """Ops that are one arith op: the op's name is its key."""
    dtype = b.wide(op.result.dtype)
    return lower_elementwise(b, op, lambda lhs, rhs: b.arith(op.name.removeprefix("dl."), lhs, rhs, dtype))


@lowering(*_ROUNDINGS)
def lower_rounding(b: Builder, op: SourceOp) -> ir.Value:
    """Ops that are one machine instruction on floats."""
    return lower_elementwise(b, op, lambda x: b.unary(_ROUNDINGS[op.name.removeprefix("dl.")], x))


@lowering("abs")
def lower_abs(b: Builder, op: SourceOp) -> ir.Value:
    """|x|; unsigned integers stay as they are."""
    dtype = op.result.dtype
    if dtype in UNSIGNED_INTS:
        return lower_elementwise(b, op, lambda x: x)
    return lower_elementwise(b, op, lambda x: b.unary("math.absf" if dtype in FLOATS else "math.absi", x))


@lowering("neg")
def lower_neg(b: Builder, op: SourceOp) -> ir.Value:
    """-x, which for integers is 0 - x."""
    dtype = op.result.dtype
    if dtype in FLOATS:
        return lower_elementwise(b, op, lambda x: b.unary("arith.negf", x))
    return lower_elementwise(b, op, lambda x: b.arith("sub", b.scalar(0, dtype), x, dtype))


@lowering("sign")
def lower_sign(b: Builder, op: SourceOp) -> ir.Value:
    """1 above 0, -1 below, else x itself: 0 or NaN."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        zero = b.scalar(0, dtype)
        below = b.select(b.compare("lt", x, zero, dtype), b.scalar(-1, dtype), x)
        return b.select(b.compare("gt", x, zero, dtype), b.scalar(1, dtype), below)

    return lower_elementwise(b, op, body)


@lowering("clip")
def lower_clip(b: Builder, op: SourceOp) -> ir.Value:
    """A compare and select per finite bound: NaN passes both."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        if not math.isinf(op["low"]):
            x = at_least(b, x, op["low"], dtype)
        elif op["low"] > 0:
            x = b.select(b.compare("lt", x, b.highest(dtype), dtype), b.highest(dtype), x)
        if not math.isinf(op["high"]):
            x = at_most(b, x, op["high"], dtype)
        elif op["high"] < 0:
            x = b.select(b.compare("gt", x, b.lowest(dtype), dtype), b.lowest(dtype), x)
        return x

    return lower_elementwise(b, op, body)


def at_least(b: Builder, x: ir.Value, bound: float, dtype: str) -> ir.Value:
    """max(x, bound) as compare and select: one vmaxps that keeps NaN, where arith.maximumf costs three instructions."""
    limit = b.scalar(bound, dtype)
    return b.select(b.compare("gt", limit, x, dtype), limit, x)


def at_most(b: Builder, x: ir.Value, bound: float, dtype: str) -> ir.Value:
    """min(x, bound) as compare and select; see `at_least`."""
    limit = b.scalar(bound, dtype)
    return b.select(b.compare("lt", limit, x, dtype), limit, x)


@lowering("cast")
def lower_cast(b: Builder, op: SourceOp) -> ir.Value:
    """One conversion; nothing where the element type stays."""
    source, target = op.types[0].dtype, op["to"]
    if source == target:
        return op.operands[0]

    def body(x: ir.Value) -> ir.Value:
        found = b.convert(x, source, target, op["saturate"], op["rounding"])
        if op["flush"] and found.owner.name == "arith.truncf":
            found.owner.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")
        return found

    return b.map(op.operands, b.shape(op.operands[0]), target, body)


@lowering("bitcast")
def lower_bitcast(b: Builder, op: SourceOp) -> ir.Value:
    """One arith.bitcast; nothing between integers, whose sign is not in their type; i1 grows to a byte."""
    x, source, target = op.operands[0], op.types[0].dtype, op["to"]
    kind = b.element(target)
    if bits_of(target) < 8 and source != target:
        return b.map([x], b.shape(x), target, lambda element: same_bits(b, element, target))
    if b.element(source) == kind:
        return x
    if source == "i1":
        return b.map([x], b.shape(x), target, lambda element: b.convert(element, source, target))
    return b.map([x], b.shape(x), kind, lambda element: b.create("arith.bitcast", [kind], [element]))


@lowering("div")
def lower_div(b: Builder, op: SourceOp) -> ir.Value:
    """True division of floats, guarded truncating division of integers."""
    dtype = b.wide(op.result.dtype)
    if dtype in FLOATS:
        return lower_elementwise(b, op, lambda lhs, rhs: b.arith("div", lhs, rhs, dtype))
    require_no_zero(b, op)
    return lower_elementwise(b, op, lambda lhs, rhs: safe_divide(b, lhs, rhs, dtype))


def safe_divide(b: Builder, lhs: ir.Value, rhs: ir.Value, dtype: str) -> ir.Value:
    """lhs / rhs towards zero, 0 for a divisor of 0; the division that traps, by 0 or of the smallest by -1, is not executed."""
    zero = b.scalar(0, dtype)
    quotient = b.arith("div", lhs, _safe_divisor(b, rhs, dtype), dtype)
    if dtype not in UNSIGNED_INTS:
        quotient = b.select(_is(b, rhs, -1, dtype), b.arith("sub", zero, lhs, dtype), quotient)
    return b.select(_is(b, rhs, 0, dtype), zero, quotient)


def _safe_divisor(b: Builder, rhs: ir.Value, dtype: str) -> ir.Value:
    """`rhs` with 1 in place of 0 and -1."""
    one = b.scalar(1, dtype)
    safe = b.select(_is(b, rhs, 0, dtype), one, rhs)
    return safe if dtype in UNSIGNED_INTS else b.select(_is(b, rhs, -1, dtype), one, safe)


def _is(b: Builder, x: ir.Value, value: int, dtype: str) -> ir.Value:
    return b.compare("eq", x, b.scalar(value, dtype), dtype)


@lowering("mod")
def lower_mod(b: Builder, op: SourceOp) -> ir.Value:
    """The truncated remainder, moved to the divisor's sign unless `fmod` asks for lhs's."""
    dtype = b.wide(op.result.dtype)
    if dtype not in FLOATS:
        require_no_zero(b, op)

    def body(lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        if dtype in FLOATS:
            remainder = b.arith("rem", lhs, rhs, dtype)
            return remainder if op["fmod"] else _floored_float(b, remainder, rhs, dtype)
        remainder = b.arith("rem", lhs, _safe_divisor(b, rhs, dtype), dtype)
        if not op["fmod"] and dtype not in UNSIGNED_INTS:
            remainder = _floored_int(b, remainder, rhs, dtype)
        return b.select(_is(b, rhs, 0, dtype), b.scalar(0, dtype), remainder)

    return lower_elementwise(b, op, body)


def _floored_int(b: Builder, remainder: ir.Value, rhs: ir.Value, dtype: str) -> ir.Value:
    zero = b.scalar(0, dtype)
    signs_differ = b.compare("lt", b.binary("arith.xori", remainder, rhs), zero, dtype)
    moves = b.binary("arith.andi", b.compare("ne", remainder, zero, dtype), signs_differ)
    return b.select(moves, b.arith("add", remainder, rhs, dtype), remainder)


def _floored_float(b: Builder, remainder: ir.Value, rhs: ir.Value, dtype: str) -> ir.Value:
    """As NumPy's mod: a zero remainder takes the sign of rhs, NaN stays."""
    zero = b.scalar(0, dtype)
    below = [b.compare("lt", value, zero, dtype) for value in (remainder, rhs)]
    moved = b.select(b.binary("arith.xori", *below), b.arith("add", remainder, rhs, dtype), remainder)
    return b.select(b.compare("eq", remainder, zero, dtype), b.binary("math.copysign", zero, rhs), moved)


@lowering("pow")
def lower_pow(b: Builder, op: SourceOp) -> ir.Value:
    """math.powf for a float base or exponent, repeated squaring for integers."""
    base_dtype, exponent_dtype = (b.wide(kind.dtype) for kind in op.types)

    def body(lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        if base_dtype in FLOATS:
            return b.binary("math.powf", lhs, b.convert(rhs, exponent_dtype, base_dtype))
        if exponent_dtype not in FLOATS:
            return _integer_power(b, lhs, rhs, base_dtype, exponent_dtype)
        power = b.binary("math.powf", b.convert(lhs, base_dtype, "f64"), b.convert(rhs, exponent_dtype, "f64"))
        return b.convert(_snapped(b, power), "f64", base_dtype)

    return lower_elementwise(b, op, body)


def _snapped(b: Builder, x: ir.Value) -> ir.Value:
    """The nearest integer where x is within its error of 4 ulp: 9 ** 0.5 must not truncate to 2."""
    whole = b.unary("math.roundeven", x)
    distance = b.unary("math.absf", b.arith("sub", x, whole, "f64"))
    error = b.arith("mul", b.unary("math.absf", whole), b.scalar(2.0**-50, "f64"), "f64")
    return b.select(b.compare("le", distance, error, "f64"), whole, x)


def _integer_power(b: Builder, base: ir.Value, exponent: ir.Value, dtype: str, exponent_dtype: str) -> ir.Value:
    """base ** exponent modulo 2 ** width, one squaring per bit of the exponent; towards zero for a negative exponent."""
    one, zero = b.scalar(1, dtype), b.scalar(0, dtype)
    no_bits = b.scalar(0, exponent_dtype)
    power, square = one, base
    for bit in range(width_of(exponent_dtype) - (exponent_dtype not in UNSIGNED_INTS)):
        masked = b.binary("arith.andi", exponent, b.scalar(1 << bit, exponent_dtype))
        factor = b.select(b.compare("eq", masked, no_bits, exponent_dtype), one, square)
        power, square = b.arith("mul", power, factor, dtype), b.arith("mul", square, square, dtype)
    if exponent_dtype in UNSIGNED_INTS:
        return power
    even = b.compare("eq", b.binary("arith.andi", exponent, b.scalar(1, exponent_dtype)), no_bits, exponent_dtype)
    below = zero if dtype in UNSIGNED_INTS else b.select(_is(b, base, -1, dtype), b.select(even, one, base), zero)
    below = b.select(_is(b, base, 1, dtype), one, below)
    return b.select(b.compare("lt", exponent, no_bits, exponent_dtype), below, power)
