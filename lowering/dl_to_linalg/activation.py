"""Lowerings of activation functions: one `linalg.generic` each."""

from __future__ import annotations

import math

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.elementwise import at_least, at_most, lower_elementwise


@lowering("relu")
def lower_relu(b: Builder, op: SourceOp) -> ir.Value:
    """max(x, 0) as compare and select."""
    dtype = b.wide(op.result.dtype)
    return lower_elementwise(b, op, lambda x: at_least(b, x, 0, dtype))


@lowering("leaky_relu")
def lower_leaky_relu(b: Builder, op: SourceOp) -> ir.Value:
    """x, or alpha * x below 0."""
    dtype = b.wide(op.result.dtype)
    return lower_elementwise(b, op, lambda x: _sloped(b, x, b.scalar(op["alpha"], dtype), dtype))


@lowering("prelu")
def lower_prelu(b: Builder, op: SourceOp) -> ir.Value:
    """x, or slope * x below 0."""
    dtype = b.wide(op.result.dtype)
    return lower_elementwise(b, op, lambda x, slope: _sloped(b, x, slope, dtype))


def _sloped(b: Builder, x: ir.Value, slope: ir.Value, dtype: str) -> ir.Value:
    below = b.compare("lt", x, b.scalar(0, dtype), dtype)
    return b.select(below, b.arith("mul", slope, x, dtype), x)


@lowering("thresholded_relu")
def lower_thresholded_relu(b: Builder, op: SourceOp) -> ir.Value:
    """x above alpha, else 0."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        return b.select(b.compare("gt", x, b.scalar(op["alpha"], dtype), dtype), x, b.scalar(0, dtype))

    return lower_elementwise(b, op, body)


@lowering("elu")
def lower_elu(b: Builder, op: SourceOp) -> ir.Value:
    """Both branches, then a select; factors of 1 are left out."""
    dtype = b.wide(op.result.dtype)

    def scaled(x: ir.Value, factor: float) -> ir.Value:
        return x if factor == 1 else b.arith("mul", x, b.scalar(factor, dtype), dtype)

    def body(x: ir.Value) -> ir.Value:
        curve = scaled(b.unary("math.expm1", scaled(x, op["rate"])), op["alpha"] * op["scale"])
        return b.select(b.compare("gt", x, b.scalar(0, dtype), dtype), scaled(x, op["scale"]), curve)

    return lower_elementwise(b, op, body)


@lowering("sigmoid")
def lower_sigmoid(b: Builder, op: SourceOp) -> ir.Value:
    """1 / (1 + exp(-x))."""
    dtype = b.wide(op.result.dtype)
    return lower_elementwise(b, op, lambda x: logistic_quotient(b, b.scalar(1, dtype), x, dtype))


def logistic_quotient(b: Builder, numerator: ir.Value, x: ir.Value, dtype: str) -> ir.Value:
    """numerator / (1 + exp(-x)); where exp overflows the quotient is 0."""
    decay = b.unary("math.exp", b.unary("arith.negf", x))
    return b.arith("div", numerator, b.arith("add", b.scalar(1, dtype), decay, dtype), dtype)


@lowering("silu")
def lower_silu(b: Builder, op: SourceOp) -> ir.Value:
    """x / (1 + exp(-alpha * x))."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        angle = x if op["alpha"] == 1 else b.arith("mul", x, b.scalar(op["alpha"], dtype), dtype)
        return logistic_quotient(b, x, angle, dtype)

    return lower_elementwise(b, op, body)


@lowering("hard_sigmoid", "hard_swish")
def lower_hard_sigmoid(b: Builder, op: SourceOp) -> ir.Value:
    """alpha * x + beta clipped to [0, 1]; hard_swish multiplies by x."""
    dtype = b.wide(op.result.dtype)
    alpha, beta = (1 / 6, 0.5) if op.name == "dl.hard_swish" else (op["alpha"], op["beta"])

    def body(x: ir.Value) -> ir.Value:
        line = b.arith("add", b.arith("mul", x, b.scalar(alpha, dtype), dtype), b.scalar(beta, dtype), dtype)
        gate = at_most(b, at_least(b, line, 0, dtype), 1, dtype)
        return gate if op.name == "dl.hard_sigmoid" else b.arith("mul", x, gate, dtype)

    return lower_elementwise(b, op, body)


@lowering("softplus")
def lower_softplus(b: Builder, op: SourceOp) -> ir.Value:
    """max(x, 0) + log1p(exp(-|x|)), which neither overflows nor cancels."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        angle = b.unary("arith.negf", b.unary("math.absf", x))
        decay = b.create("math.exp", [angle.type], [angle], {"dlc.nonpositive": ir.UnitAttr.get()})
        rest = b.create("math.log1p", [decay.type], [decay], {"dlc.unit_interval": ir.UnitAttr.get()})
        return b.arith("add", at_least(b, x, 0, dtype), rest, dtype)

    return lower_elementwise(b, op, body)


@lowering("softsign")
def lower_softsign(b: Builder, op: SourceOp) -> ir.Value:
    """x / (1 + |x|)."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        return b.arith("div", x, b.arith("add", b.scalar(1, dtype), b.unary("math.absf", x), dtype), dtype)

    return lower_elementwise(b, op, body)


@lowering("mish")
def lower_mish(b: Builder, op: SourceOp) -> ir.Value:
    """x * n / (n + 2) with n = e * (e + 2), e = exp(x): tanh(log(1 + e)) with one exp and no log.

    The quotient rounds to 1 from x = 20 on, also in f64; capping x there keeps n finite.
    """
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        two = b.scalar(2, dtype)
        power = b.unary("math.exp", at_most(b, x, 20, dtype))
        numerator = b.arith("mul", power, b.arith("add", power, two, dtype), dtype)
        gate = b.arith("div", numerator, b.arith("add", numerator, two, dtype), dtype)
        return b.arith("mul", x, gate, dtype)

    return lower_elementwise(b, op, body)


@lowering("gelu")
def lower_gelu(b: Builder, op: SourceOp) -> ir.Value:
    """x / 2 * (1 + f(x)), f being erf(x / sqrt(2)) or its tanh approximation.

    (1 + tanh(u)) / 2 is 1 / (1 + exp(-2u)), which takes two thirds of the time and keeps its digits where tanh(u) is near -1.
    """
    dtype = b.wide(op.result.dtype)
    root = math.sqrt(8 / math.pi)

    def times(x: ir.Value, factor: float) -> ir.Value:
        return b.arith("mul", x, b.scalar(factor, dtype), dtype)

    def by_tanh(x: ir.Value) -> ir.Value:
        slope = b.arith("add", b.scalar(root, dtype), times(b.arith("mul", x, x, dtype), 0.044715 * root), dtype)
        return logistic_quotient(b, x, b.arith("mul", x, slope, dtype), dtype)

    def by_erf(x: ir.Value) -> ir.Value:
        gate = b.unary("math.erf", times(x, math.sqrt(0.5)))
        return b.arith("mul", times(x, 0.5), b.arith("add", b.scalar(1, dtype), gate, dtype), dtype)

    return lower_elementwise(b, op, by_erf if op["approximate"] == "none" else by_tanh)
