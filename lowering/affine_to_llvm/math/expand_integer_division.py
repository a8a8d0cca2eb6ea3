"""Quotients of vectors of integers by quotients and reciprocals of floats, which processors have for vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.values import splat_constant
from dlc.lowering.pass_base import Pass

_ToFloat = Callable[[ir.Type, ir.Value], ir.Value]

_OPS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
_FLOAT_BITS = {8: 32, 16: 32, 32: 64}
"""Floats by bits of integers: a quotient that is no whole number is further from the next one than its rounding error."""
_LARGER = 2.0**-38
"""By what part of it a reciprocal in f64 is made too large, so that whole quotients do not come out below themselves.

The reciprocal's own error is below 2^-45; quotients that are not whole lie 2^-32 of themselves below the next whole number.
"""


@dataclass(frozen=True)
class ExpandIntegerDivision(Pass):
    """Divide vectors of integers of up to 32 bits as floats that hold them exactly, and cut the quotient off.

    LLVM takes such a vector apart, one division after the other: 98304 quotients of i32 take 200 us; divided in f64 they take 74,
    and with reciprocals of f32 that one step of Newton's makes exact enough, 54.

    before: %q = arith.divsi %a, %b : vector<16xi32>
    after:  %x = extf(1 / sitofp(%b)), by way of vector<16xf32>
            %q = fptosi(sitofp(%a) * (%x + %x * (1 + 2^-38 - sitofp(%b) * %x))), by way of vector<16xf64>

    A remainder is what the quotient times the divisor leaves. Scalars, longer integers and other ops stay as they are.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Expand the divisions in one function."""
        for division in [inner for inner in nested_ops(op) if inner.name in _OPS]:
            kind = division.results[0].type
            if isinstance(kind, ir.VectorType) and _bits(kind) in _FLOAT_BITS:
                _expand(division, kind)


def _bits(kind: ir.VectorType) -> int:
    return kind.element_type.width if isinstance(kind.element_type, ir.IntegerType) else 0


def _expand(division: ir.Operation, kind: ir.VectorType) -> None:
    """Replace `division`."""
    is_signed = division.name.endswith("si")
    to_integer = arith.fptosi if is_signed else arith.fptoui
    dividend, divisor = division.operands
    with ir.InsertionPoint(division), division.location:
        quotient = _reciprocal_quotient if _FLOAT_BITS[_bits(kind)] == 64 else _divided
        result = to_integer(kind, quotient(arith.sitofp if is_signed else arith.uitofp, dividend, divisor))
        if division.name.startswith("arith.rem"):
            result = arith.subi(dividend, arith.muli(result, divisor))
    division.results[0].replace_all_uses_with(result)
    division.erase()


def _divided(to_float: _ToFloat, dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    """The quotient in f32."""
    kind = _floats(dividend.type, 32)
    return arith.divf(to_float(kind, dividend), to_float(kind, divisor))


def _reciprocal_quotient(to_float: _ToFloat, dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    """The quotient in f64, 2^-38 of it too large."""
    single, double = _floats(dividend.type, 32), _floats(dividend.type, 64)
    contract = ir.Attribute.parse("#arith.fastmath<contract>")
    first = arith.extf(double, arith.divf(splat_constant(single, ir.FloatAttr.get_f32(1.0)), to_float(single, divisor)))
    product = arith.mulf(to_float(double, divisor), first, fastmath=contract)
    missing = arith.subf(splat_constant(double, ir.FloatAttr.get_f64(1.0 + _LARGER)), product, fastmath=contract)
    reciprocal = arith.addf(first, arith.mulf(first, missing, fastmath=contract), fastmath=contract)
    return arith.mulf(to_float(double, dividend), reciprocal)


def _floats(kind: ir.VectorType, bits: int) -> ir.VectorType:
    """Vectors of as many floats of so many bits as `kind` has numbers."""
    return ir.VectorType.get(kind.shape, ir.F64Type.get() if bits == 64 else ir.F32Type.get())
