"""Canonical forms of arithmetic: neutral elements, powers, signs, and functions that undo or repeat each other."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.types import FLOATS, INTS
from dlc.lowering.dl.matching import attributes_of, constant_array, constant_scalar, has_one_use, source, type_of
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.simplify.replacing import forward, rebuild
from dlc.lowering.dl.simplify.value_facts import broadcasts_into, has_clear_sign, is_full_of

ALGEBRA = RuleSet()

_COMMUTATIVE = ("dl.add", "dl.mul", "dl.max", "dl.min", "dl.and", "dl.or", "dl.xor", "dl.equal", "dl.not_equal")
_ROUNDINGS = ("dl.floor", "dl.ceil", "dl.round", "dl.trunc")


@ALGEBRA.rule(*_COMMUTATIVE)
def move_constant_to_the_right(op: ir.Operation, rewriter: Rewriter) -> bool:
    """op(c, x) = op(x, c)"""
    left, right = op.operands
    if source(left, "dl.constant") is None or source(right, "dl.constant") is not None:
        return False
    return rebuild(op, rewriter, op.name.removeprefix("dl."), right, left)


def _drop_neutral(op: ir.Operation, rewriter: Rewriter, *numbers: float) -> bool:
    """op(x, c) = x where c is full of one of `numbers` and no larger than x."""
    x, other = op.operands
    if not any(is_full_of(other, number) for number in numbers):
        return False
    return broadcasts_into(type_of(other), type_of(x)) and forward(op, rewriter, x)


@ALGEBRA.rule("dl.add")
def drop_add_of_zero(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x + 0 = x; for floats x + -0.0 = x, and x + 0.0 = x only where x is not -0.0"""
    x = op.operands[0]
    whole = type_of(x).dtype in INTS or has_clear_sign(x)
    return _drop_neutral(op, rewriter, *((0.0, -0.0) if whole else (-0.0,)))


@ALGEBRA.rule("dl.sub")
def drop_sub_of_zero(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x - 0 = x; not x - -0.0, which is 0.0 for -0.0"""
    return _drop_neutral(op, rewriter, 0.0)


@ALGEBRA.rule("dl.mul")
def drop_mul_of_one(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * 1 = x"""
    return _drop_neutral(op, rewriter, 1.0)


@ALGEBRA.rule("dl.div")
def drop_div_of_one(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x / 1 = x"""
    return _drop_neutral(op, rewriter, 1.0)


@ALGEBRA.rule("dl.pow")
def drop_pow_of_one(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x ** 1 = x; an integer to a float power goes through f64, which is not exact"""
    base, exponent = (type_of(operand) for operand in op.operands)
    exact = base.dtype in FLOATS or exponent.dtype in INTS
    return exact and _drop_neutral(op, rewriter, 1.0)


@ALGEBRA.rule("dl.mul")
def mul_of_minus_one_to_neg(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * -1 = -x"""
    x, other = op.operands
    if not is_full_of(other, -1.0) or not broadcasts_into(type_of(other), type_of(x)):
        return False
    return rebuild(op, rewriter, "neg", x)


@ALGEBRA.rule("dl.pow")
def square_to_mul(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x ** 2 = x * x"""
    x, exponent = op.operands
    exact = type_of(x).dtype in FLOATS or type_of(exponent).dtype in INTS
    if not exact or not is_full_of(exponent, 2.0) or not broadcasts_into(type_of(exponent), type_of(x)):
        return False
    return rebuild(op, rewriter, "mul", x, x)


_ROOTS = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}


@ALGEBRA.rule("dl.pow")
def root_of_power(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x ** -1 = 1 / x; x ** 0.5 = sqrt(x) and x ** -0.5 = 1 / sqrt(x) where x is not -inf, -0.0 or below 0"""
    x, exponent = op.operands
    name = _ROOTS.get(constant_scalar(exponent) or 0.0)
    if name is None or type_of(x).dtype not in FLOATS or not broadcasts_into(type_of(exponent), type_of(x)):
        return False
    if name != "reciprocal" and not has_clear_sign(x):
        return False
    return rebuild(op, rewriter, name, x)


@ALGEBRA.rule("dl.div")
def div_of_power_of_two_to_mul(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x / c = x * (1 / c), where every element of c is a power of two, and so its reciprocal exact"""
    x, divisor = op.operands
    array = constant_array(divisor) if type_of(x).dtype in FLOATS else None
    if array is None or array.size == 0:
        return False
    wide = widen(array).astype(np.float64)
    with np.errstate(all="ignore"):
        inverse = (1 / wide).astype(array.dtype)
        exact = np.isfinite(wide) & (np.abs(np.frexp(wide)[0]) == 0.5) & (widen(inverse).astype(np.float64) * wide == 1)
    if not exact.all():
        return False
    return rebuild(op, rewriter, "mul", x, dl.constant(value=inverse))


@ALGEBRA.rule("dl.reciprocal", "dl.div")
def reciprocal_of_sqrt_to_rsqrt(op: ir.Operation, rewriter: Rewriter) -> bool:
    """1 / sqrt(x) = rsqrt(x); not in f16 and bf16, where the root alone is rounded, too"""
    operands = list(op.operands)
    root = source(operands[-1], "dl.sqrt")
    if root is None or not has_one_use(operands[-1]) or type_of(operands[-1]).dtype not in ("f64", "f32"):
        return False
    if len(operands) == 2:
        one = operands[0]
        if not is_full_of(one, 1.0) or not broadcasts_into(type_of(one), type_of(operands[1])):
            return False
    return rebuild(op, rewriter, "rsqrt", root.operands[0], absorbing=root)


@ALGEBRA.rule("dl.add")
def add_of_neg_to_sub(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x + -y = x - y"""
    for x, other in (tuple(op.operands), tuple(op.operands)[::-1]):
        negated = source(other, "dl.neg")
        if negated is not None:
            return rebuild(op, rewriter, "sub", x, negated.operands[0], absorbing=negated)
    return False


@ALGEBRA.rule("dl.sub")
def sub_of_neg_to_add(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x - -y = x + y"""
    negated = source(op.operands[1], "dl.neg")
    return negated is not None and rebuild(op, rewriter, "add", op.operands[0], negated.operands[0], absorbing=negated)


@ALGEBRA.rule("dl.neg", "dl.not")
def cancel_inverses(op: ir.Operation, rewriter: Rewriter) -> bool:
    """-(-x) = x; ~(~x) = x"""
    inner = source(op.operands[0], op.name)
    return inner is not None and forward(op, rewriter, inner.operands[0])


@ALGEBRA.rule("dl.relu", "dl.abs", "dl.sign")
def drop_repeated_function(op: ir.Operation, rewriter: Rewriter) -> bool:
    """relu(relu(x)) = relu(x); abs and sign likewise"""
    return source(op.operands[0], op.name) is not None and forward(op, rewriter, op.operands[0])


@ALGEBRA.rule(*_ROUNDINGS)
def drop_rounding_of_whole_number(op: ir.Operation, rewriter: Rewriter) -> bool:
    """floor(round(x)) = round(x), for any two of floor, ceil, round and trunc"""
    inner = source(op.operands[0])
    return inner is not None and inner.name in _ROUNDINGS and forward(op, rewriter, op.operands[0])


@ALGEBRA.rule("dl.relu", "dl.abs")
def drop_sign_of_positive(op: ir.Operation, rewriter: Rewriter) -> bool:
    """relu(x) = abs(x) = x where x is not below 0"""
    return has_clear_sign(op.operands[0]) and forward(op, rewriter, op.operands[0])


@ALGEBRA.rule("dl.abs")
def abs_of_neg(op: ir.Operation, rewriter: Rewriter) -> bool:
    """abs(-x) = abs(x)"""
    inner = source(op.operands[0], "dl.neg")
    return inner is not None and rebuild(op, rewriter, "abs", inner.operands[0], absorbing=inner)


@ALGEBRA.rule("dl.max", "dl.min", "dl.and", "dl.or")
def drop_idempotent(op: ir.Operation, rewriter: Rewriter) -> bool:
    """max(x, x) = x; min, and, or likewise"""
    x, other = op.operands
    return bool(x == other) and forward(op, rewriter, x)


@ALGEBRA.rule("dl.max", "dl.min")
def bound_to_clip(op: ir.Operation, rewriter: Rewriter) -> bool:
    """max(x, c) = clip(x, low=c); min(x, c) = clip(x, high=c), for a number c"""
    x, bound = op.operands
    number, array = constant_scalar(bound), constant_array(bound)
    if number is None or array is None:
        return False
    if type_of(x).dtype in INTS and int(number) != int(array.flat[0]):
        return False  # an i64 that f64 does not hold
    if not broadcasts_into(type_of(bound), type_of(x)):
        return False
    end = {"low": number} if op.name == "dl.max" else {"high": number}
    return rebuild(op, rewriter, "clip", x, **end)


@ALGEBRA.rule("dl.clip")
def drop_open_clip(op: ir.Operation, rewriter: Rewriter) -> bool:
    """clip(x, -inf, inf) = x"""
    bounds = attributes_of(op)
    return bounds["low"] == -np.inf and bounds["high"] == np.inf and forward(op, rewriter, op.operands[0])


@ALGEBRA.rule("dl.clip")
def clip_to_relu(op: ir.Operation, rewriter: Rewriter) -> bool:
    """clip(x, 0, inf) = relu(x)"""
    bounds = attributes_of(op)
    is_relu = bounds["low"] == 0 and not np.signbit(bounds["low"]) and bounds["high"] == np.inf
    return is_relu and rebuild(op, rewriter, "relu", op.operands[0])


@ALGEBRA.rule("dl.clip", "dl.relu")
def merge_clips(op: ir.Operation, rewriter: Rewriter) -> bool:
    """clip(clip(x, a, b), c, d) = clip(x, clip(a, c, d), clip(b, c, d)); relu is clip(0, inf)"""
    inner = source(op.operands[0])
    first, then = _bounds(inner), _bounds(op)
    if inner is None or first is None or then is None:
        return False
    low, high = (min(max(bound, then[0]), then[1]) for bound in first)
    return rebuild(op, rewriter, "clip", inner.operands[0], absorbing=inner, low=low, high=high)


def _bounds(op: ir.Operation | None) -> tuple[float, float] | None:
    if op is None or op.name not in ("dl.clip", "dl.relu"):
        return None
    bounds = attributes_of(op)
    return (0.0, np.inf) if op.name == "dl.relu" else (bounds["low"], bounds["high"])
