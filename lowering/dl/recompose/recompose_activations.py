"""`dl-recompose-activations`: activation functions that exporters wrote as formulas become ops again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS
from dlc.lowering.dl.decompose.decomposing import number
from dlc.lowering.dl.matching import attributes_of, functions, source, type_of
from dlc.lowering.dl.patterns import (
    Polynomial,
    built_like,
    close,
    cone,
    decimal,
    is_float,
    keeps_shape,
    merged_location,
    narrow,
    operand_of,
    operands_of,
    other_operand,
    peelings,
    polynomial,
    products_above,
    replace_cone,
    same,
    scalar,
    sole_user,
    with_scalar,
)
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.pass_base import Pass

RULES = RuleSet()

_TANH_RATE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


_ACTIVATIONS = tuple(
    f"dl.{name}" for name in ("gelu", "silu", "sigmoid", "hard_sigmoid", "hard_swish", "softplus", "mish", "leaky_relu", "prelu")
)


@dataclass(frozen=True)
class RecomposeActivations(Pass):
    """Recognise GELU, SiLU, hard-swish, mish and their relatives in any order of operands and factors.

    Inner values must have no other users. Formulas that overflow where the op does not (log(1 + exp(x)) by itself) stay.

    before:
        %e = "dl.erf"(%scaled)      // %scaled = %x / sqrt(2)
        %1 = "dl.add"(%e, %one)
        %2 = "dl.mul"(%x, %1)
        %y = "dl.mul"(%2, %half)
    after:
        %y = "dl.gelu"(%x)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, RULES)


@dataclass(frozen=True)
class _Gated:
    """`top` is `factor` * x * gate, where the gate's argument is `argument` of x; without x, x is a value of the argument."""

    top: ir.Operation
    x: ir.Value
    factor: float
    argument: Polynomial


def _gated(gate: ir.Value, argument: ir.Value, accept: Callable[[_Gated], bool]) -> _Gated | None:
    """The innermost product of `gate` with an x that `argument` is a polynomial of, which is accepted."""
    for top, factor, others in products_above(gate):
        if len(others) > 1:
            return None
        for x, multiple in peelings(others[0]) if others else ():
            formula = polynomial(argument, x)
            found = None if formula is None else _Gated(top, x, factor * multiple, formula)
            if found is not None and type_of(x).rank == type_of(top.results[0]).rank and accept(found):
                return found
    return None


def _is_formula(have: Polynomial, want: Polynomial, dtype: str) -> bool:
    return all(close(have.get(degree, 0.0), want.get(degree, 0.0), dtype) for degree in (*have, *want))


def _plus_one(value: ir.Value) -> tuple[ir.Value, float] | None:
    """`(sum, factor)` where the sum is factor * (1 + value) and alone uses `value`, whatever the order of the factor."""
    factor, dtype = 1.0, type_of(value).dtype
    while (user := sole_user(value)) is not None and user.name in ("dl.mul", "dl.div"):
        step = next(products_above(value), None)
        if step is None or step[2]:
            return None
        factor *= step[1]
        value = user.results[0]
    if user is None or user.name != "dl.add":
        return None
    found = with_scalar(user.results[0], "dl.add")
    fits = found is not None and found[0] == value and close(found[1], factor, dtype)
    return (user.results[0], factor) if fits else None


@RULES.rule("dl.erf")
def recompose_erf_gelu(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x / 2 * (1 + erf(x / sqrt(2))) = gelu(x), and the same with another factor"""
    return _to_gelu(op, rewriter, {1: math.sqrt(0.5)}, "none")


@RULES.rule("dl.tanh")
def recompose_tanh_gelu(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) = gelu(x) by its second formula"""
    return _to_gelu(op, rewriter, _cubic(1.0), "tanh")


def _to_gelu(op: ir.Operation, rewriter: Rewriter, argument: Polynomial, approximate: str) -> bool:
    """Replace the product of x and the gate `op` is in; optimisers move the factor 1 / 2 elsewhere."""
    gate, dtype = _plus_one(op.results[0]), type_of(op.results[0]).dtype
    if gate is None:
        return False

    def is_bent(found: _Gated) -> bool:
        return found.factor != 0 and _is_formula(found.argument, argument, dtype)

    def is_gelu(found: _Gated) -> bool:
        return close(found.factor * gate[1], 0.5, dtype) and is_bent(found)

    found = _gated(gate[0], op.operands[0], is_gelu)
    if found is not None:
        return replace_cone(rewriter, found.top, "gelu", found.x, approximate=approximate)
    found = _gated(gate[0], op.operands[0], is_bent)
    if found is None:
        return False
    top = found.top
    with ir.InsertionPoint(top), merged_location(cone(top, [found.x])):
        normal = built_like(top.results[0], "gelu", found.x, approximate=approximate)
        factor = number(2 * found.factor * gate[1], normal)
        value = built_like(top.results[0], "mul", normal, factor)
    rewriter.replace(top, value)
    return True


def _cubic(factor: float) -> Polynomial:
    return {1: factor * _TANH_RATE, 3: factor * _TANH_RATE * _TANH_CUBE}


@RULES.rule("dl.sigmoid")
def recompose_silu(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * sigmoid(alpha * x) = silu(x); with the cubic polynomial of GELU's second formula it is gelu(x)"""
    dtype = type_of(op.results[0]).dtype

    def is_gelu(found: _Gated) -> bool:
        return close(found.factor, 1.0, dtype) and _is_formula(found.argument, _cubic(2.0), dtype)

    def is_silu(found: _Gated) -> bool:
        rate = {1: found.argument.get(1, 0.0)}
        return close(found.factor, 1.0, dtype) and rate[1] != 0 and _is_formula(found.argument, rate, dtype)

    found = _gated(op.results[0], op.operands[0], is_gelu)
    if found is not None:
        return replace_cone(rewriter, found.top, "gelu", found.x, approximate="tanh")
    found = _gated(op.results[0], op.operands[0], is_silu)
    if found is None:
        return False
    return replace_cone(rewriter, found.top, "silu", found.x, alpha=decimal(found.argument[1], dtype))


@RULES.rule("dl.exp")
def recompose_sigmoid(op: ir.Operation, rewriter: Rewriter) -> bool:
    """1 / (1 + exp(-x)) = sigmoid(x), and x / (1 + exp(-x)) = silu(x)"""
    x = _negated(op.operands[0])
    total = sole_user(op.results[0], "dl.add")
    if x is None or total is None:
        return False
    found = with_scalar(total.results[0], "dl.add")
    top = sole_user(total.results[0])
    if found is None or found[1] != 1.0 or top is None:
        return False
    if top.name == "dl.reciprocal":
        return replace_cone(rewriter, top, "sigmoid", x)
    if top.name != "dl.div" or top.operands[1] != total.results[0]:
        return False
    if top.operands[0] == x:
        return replace_cone(rewriter, top, "silu", x)
    is_inverse = scalar(top.operands[0]) == 1.0 and keeps_shape(x, top.operands[0])
    return is_inverse and replace_cone(rewriter, top, "sigmoid", x)


def _negated(value: ir.Value) -> ir.Value | None:
    """x where `value` is -x."""
    found = with_scalar(value, "dl.mul")
    return found[0] if found is not None and found[1] == -1 else operand_of(value, "dl.neg")


@RULES.rule("dl.clip")
def recompose_hard_sigmoid(op: ir.Operation, rewriter: Rewriter) -> bool:
    """clip(a * x + b, 0, c) / c = hard_sigmoid(x) with alpha = a / c and beta = b / c"""
    bounds, dtype = attributes_of(op), type_of(op.results[0]).dtype
    high = bounds["high"]
    if bounds["low"] != 0 or not 0 < high < math.inf or dtype not in FLOATS:
        return False
    found = _scaled_shift(op.operands[0])
    if found is None:
        return False
    x, slope, shift = found
    if not close(shift / high, 0.5, dtype):
        return False
    return _to_hard_swish(op, rewriter, x, slope / high, shift / high, 1 / high) or _to_hard_sigmoid(
        op, rewriter, x, slope / high, shift / high, 1 / high
    )


def _scaled_shift(value: ir.Value) -> tuple[ir.Value, float, float] | None:
    """`(x, a, b)` where `value` is a * x + b with a positive a and b."""
    total = with_scalar(value, "dl.add")
    if total is None or total[1] <= 0:
        return None
    x, slope = list(peelings(total[0]))[-1]
    return (x, slope, total[1]) if slope > 0 else None


def _to_hard_sigmoid(op: ir.Operation, rewriter: Rewriter, x: ir.Value, alpha: float, beta: float, unit: float) -> bool:
    dtype = type_of(x).dtype
    top = op if close(unit, 1.0, dtype) else None
    for product, factor, others in products_above(op.results[0]) if top is None else ():
        if not others and close(factor, unit, dtype):
            top = product
            break
    if top is None:
        return False
    return replace_cone(rewriter, top, "hard_sigmoid", x, alpha=decimal(alpha, dtype), beta=decimal(beta, dtype))


def _to_hard_swish(op: ir.Operation, rewriter: Rewriter, x: ir.Value, alpha: float, beta: float, unit: float) -> bool:
    dtype = type_of(x).dtype
    if not close(alpha, 1 / 6, dtype) or not close(beta, 0.5, dtype):
        return False
    for top, factor, others in products_above(op.results[0]):
        if len(others) > 1:
            return False
        for own, multiple in peelings(others[0]) if others else ():
            if own == x and close(factor * multiple, unit, dtype):
                return replace_cone(rewriter, top, "hard_swish", x)
    return False


@RULES.rule("dl.hard_sigmoid")
def recompose_hard_swish(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * hard_sigmoid(x) with alpha = 1 / 6 and beta = 1 / 2 is hard_swish(x)"""
    bounds = attributes_of(op)
    return _to_hard_swish(op, rewriter, op.operands[0], bounds["alpha"], bounds["beta"], 1.0)


@RULES.rule("dl.log", "dl.log1p")
def recompose_softplus(op: ir.Operation, rewriter: Rewriter) -> bool:
    """max(x, 0) + log(1 + exp(-|x|)) = softplus(x)"""
    x = operand_of(operand_of(_one_plus_exp(op), "dl.neg"), "dl.abs")
    top = sole_user(op.results[0], "dl.add")
    if x is None or top is None:
        return False
    other = other_operand(top, op.results[0])
    found = with_scalar(other, "dl.max")
    is_positive_part = same(operand_of(other, "dl.relu"), x) or (found is not None and found[0] == x and found[1] == 0)
    return is_positive_part and replace_cone(rewriter, top, "softplus", x)


def _one_plus_exp(log: ir.Operation | None) -> ir.Value | None:
    """x where `log` is log(1 + exp(x))."""
    if log is None or log.name not in ("dl.log", "dl.log1p"):
        return None
    power = log.operands[0]
    if log.name == "dl.log":
        found = with_scalar(power, "dl.add")
        if found is None or found[1] != 1.0:
            return None
        power = found[0]
    return operand_of(power, "dl.exp")


@RULES.rule("dl.where")
def recompose_guarded_softplus(op: ir.Operation, rewriter: Rewriter) -> bool:
    """where(x > t, x, log(1 + exp(x))) = softplus(x) for a t from which on the two are equal and exp is finite"""
    compared = operands_of(op.operands[0], "dl.less")
    if compared is None or sole_user(op.operands[2]) is None:
        return False
    x, threshold = op.operands[1], scalar(compared[0])
    fits = threshold is not None and compared[1] == x and keeps_shape(x, compared[0])
    fits = fits and same(_one_plus_exp(source(op.operands[2])), x) and type_of(x).dtype in ("f32", "f16", "bf16")
    if not fits or threshold is None or not 17 <= threshold <= 88:
        return False
    return replace_cone(rewriter, op, "softplus", x)


@RULES.rule("dl.tanh")
def recompose_mish(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * tanh(softplus(x)) = mish(x), with softplus as an op or as log(1 + exp(x)), which may overflow here"""
    inner = source(op.operands[0])
    x = operand_of(op.operands[0], "dl.softplus") or _one_plus_exp(inner)
    top = sole_user(op.results[0], "dl.mul")
    if x is None or top is None or other_operand(top, op.results[0]) != x:
        return False
    return replace_cone(rewriter, top, "mish", x)


@RULES.rule("dl.where")
def recompose_leaky_relu(op: ir.Operation, rewriter: Rewriter) -> bool:
    """where(x < 0, slope * x, x) = leaky_relu(x), or prelu(x) for a tensor of slopes; so is where(x > 0, x, slope * x)"""
    condition, below, above = op.operands
    compared = operands_of(condition, "dl.less") or operands_of(condition, "dl.less_equal")
    if compared is None:
        return False
    x, zero = compared
    if scalar(x) == 0:
        x, zero, below, above = zero, x, above, below
    if scalar(zero) != 0 or above != x or not is_float(x) or not keeps_shape(x, zero):
        return False
    return _to_leaky_relu(op, rewriter, x, below)


@RULES.rule("dl.max")
def recompose_leaky_relu_of_max(op: ir.Operation, rewriter: Rewriter) -> bool:
    """max(x, alpha * x) = leaky_relu(x) for alpha in (0, 1)"""
    for x, multiple in (list(op.operands), list(op.operands)[::-1]):
        found = with_scalar(multiple, "dl.mul")
        if found is not None and found[0] == x and 0 < found[1] < 1 and is_float(x):
            return _to_leaky_relu(op, rewriter, x, multiple)
    return False


def _to_leaky_relu(op: ir.Operation, rewriter: Rewriter, x: ir.Value, below: ir.Value) -> bool:
    found = operands_of(below, "dl.mul")
    if found is None or x not in found:
        return False
    slope = found[1] if found[0] == x else found[0]
    if not keeps_shape(x, slope):
        return False
    alpha = scalar(slope)
    if alpha is not None:
        return replace_cone(rewriter, op, "leaky_relu", x, alpha=decimal(alpha, type_of(x).dtype))
    return replace_cone(rewriter, op, "prelu", x, slope)


@RULES.rule("dl.add", "dl.sub")
def recompose_prelu(op: ir.Operation, rewriter: Rewriter) -> bool:
    """relu(x) - slope * relu(-x) = prelu(x), also as relu(x) + -slope * relu(-x) with the negation anywhere"""
    for head, tail in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
        x = operand_of(head, "dl.relu")
        if x is None or not is_float(x) or (op.name == "dl.sub" and head != op.operands[0]):
            continue
        found = _negative_part(tail, x)
        if found is None:
            continue
        is_plain = (found[1] < 0) == (op.name == "dl.add")
        return replace_cone(rewriter, op, "prelu", x, found[0] if is_plain else dl.neg(found[0]))
    return False


def _negative_part(value: ir.Value, x: ir.Value) -> tuple[ir.Value, float] | None:
    """`(slope, sign)` where `value` is sign * slope * relu(-x), slope being a tensor that keeps x's shape."""
    sign = 1.0
    inner = operand_of(value, "dl.neg")
    if inner is not None:
        value, sign = inner, -sign
    found = operands_of(value, "dl.mul")
    for slope, part in (found, found[::-1]) if found else ():
        if not same(operand_of(operand_of(part, "dl.relu"), "dl.neg"), x):
            continue
        negated = operand_of(slope, "dl.neg")
        slope, sign = (negated, -sign) if negated is not None else (slope, sign)
        return (slope, sign) if keeps_shape(x, slope) else None
    return None


@RULES.rule("dl.min")
def recompose_clip(op: ir.Operation, rewriter: Rewriter) -> bool:
    """min(max(x, low), high) = clip(x), and so is min(relu(x), high): ReLU6"""
    found = with_scalar(op.results[0], "dl.min")
    if found is None or not is_float(found[0]):
        return False
    inner, high = found
    x = operand_of(inner, "dl.relu")
    low = with_scalar(inner, "dl.max") if x is None else (x, 0.0)
    if low is None or not low[1] <= high:
        return False
    return replace_cone(rewriter, op, "clip", low[0], low=low[1], high=high)


@RULES.rule(*_ACTIVATIONS)
def narrow_activation(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(f(cast(x))) = f(x) where f16 or bf16 is cast to f32 and back: an activation computes in f32 and rounds once"""
    return narrow(op, rewriter)
