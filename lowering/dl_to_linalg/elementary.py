"""Lowerings of elementary functions: one op of the math dialect each, which `math-expand-functions` turns into arithmetic."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.elementwise import lower_elementwise


@lowering(
    *("exp", "log", "log1p", "sqrt", "erf"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
def lower_elementary(b: Builder, op: SourceOp) -> ir.Value:
    """The math op of the same name."""
    return lower_elementwise(b, op, lambda x: b.unary(op.name.replace("dl.", "math."), x))


@lowering("rsqrt", "reciprocal")
def lower_inverse(b: Builder, op: SourceOp) -> ir.Value:
    """1 over x or its root: exact division, since the machine's estimates need as long with their Newton step."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        divisor = b.unary("math.sqrt", x) if op.name == "dl.rsqrt" else x
        return b.arith("div", b.scalar(1, dtype), divisor, dtype)

    return lower_elementwise(b, op, body)
