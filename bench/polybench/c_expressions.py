"""C expressions: text with a precedence, and what attributes and affine expressions become."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.errors import InvalidInputError

CHOICE, COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(6)
"""Precedences, from what binds least."""

TYPES = {
    "f64": "double",
    "f32": "float",
    "i64": "int64_t",
    "i32": "int32_t",
    "i16": "int16_t",
    "i8": "int8_t",
    "i1": "bool",
    "index": "int",
}
"""C's names of element types. Indices are `int`, as in PolyBench."""


@dataclass(frozen=True)
class Text:
    """An expression, and how tightly its outermost operator binds. `reads` says that memory is read in it."""

    text: str
    precedence: int = ATOM
    reads: bool = False

    def within(self, precedence: int) -> str:
        """The text where at least `precedence` is needed."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def binary(operator: str, precedence: int, left: Text, right: Text) -> Text:
    """`left operator right`, which C reads in the same order."""
    text = f"{left.within(precedence)} {operator} {right.within(precedence + 1)}"
    return Text(text, precedence, left.reads or right.reads)


def call(name: str, arguments: Sequence[Text]) -> Text:
    """A call of a function."""
    return Text(f"{name}({', '.join(each.text for each in arguments)})", reads=any(each.reads for each in arguments))


def type_name(kind: ir.Type, op: ir.Operation) -> str:
    """C's name of a scalar type; refuses those that C99 has no name for."""
    if str(kind) not in TYPES:
        raise InvalidInputError(f"{op.location}: error: C99 has no type for '{kind}' (have {', '.join(TYPES)})")
    return TYPES[str(kind)]


def literal(attribute: ir.Attribute) -> Text:
    """The number of an `arith.constant`."""
    if isinstance(attribute, ir.FloatAttr):
        single = str(attribute.type) == "f32"
        value = attribute.value
        if not math.isfinite(value):
            return Text("NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY", UNARY)
        text = f"{np.float32(value)}f" if single else repr(value)
        return Text(text, UNARY if value < 0 else ATOM)
    return _number(int(attribute.value))


def _number(value: int) -> Text:
    return Text(str(value), UNARY if value < 0 else ATOM)


def affine_text(expression: ir.AffineExpr, dims: Sequence[Text], symbols: Sequence[Text]) -> Text:
    """An affine expression with the texts of its operands; sums have their positive terms first."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return _number(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    if isinstance(expression, ir.AffineAddExpr):
        return _sum(_terms(expression), dims, symbols)
    if isinstance(expression, ir.AffineMulExpr):
        return _sum([expression], dims, symbols)
    names = {ir.AffineFloorDivExpr: "floordiv", ir.AffineCeilDivExpr: "ceildiv", ir.AffineModExpr: "modulo"}
    parts = [affine_text(part, dims, symbols) for part in (expression.lhs, expression.rhs)]
    return call(names[type(expression)], parts)


def _terms(expression: ir.AffineExpr) -> list[ir.AffineExpr]:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineAddExpr):
        return [*_terms(expression.lhs), *_terms(expression.rhs)]
    return [expression]


def _sum(terms: Sequence[ir.AffineExpr], dims: Sequence[Text], symbols: Sequence[Text]) -> Text:
    signed = sorted((_signed(term, dims, symbols) for term in terms), key=lambda item: item[0])
    is_negative, first = signed[0]
    total = Text(f"-{first.within(UNARY)}", UNARY) if is_negative else first
    for is_negative, term in signed[1:]:
        total = binary("-" if is_negative else "+", SUM, total, term)
    return total


def _signed(term: ir.AffineExpr, dims: Sequence[Text], symbols: Sequence[Text]) -> tuple[bool, Text]:
    """Whether a term of a sum is subtracted, and its magnitude."""
    term = term.maybe_downcast()
    if isinstance(term, ir.AffineConstantExpr):
        return term.value < 0, _number(abs(term.value))
    factor = term.rhs.maybe_downcast() if isinstance(term, ir.AffineMulExpr) else None
    if not isinstance(factor, ir.AffineConstantExpr):
        return False, affine_text(term, dims, symbols)
    inner = affine_text(term.lhs, dims, symbols)
    size = abs(factor.value)
    return factor.value < 0, inner if size == 1 else binary("*", PRODUCT, _number(size), inner)


HELPERS = {
    "floordiv": "static inline int floordiv(int a, int b) { return a / b - (a % b < 0); }",
    "ceildiv": "static inline int ceildiv(int a, int b) { return a / b + (a % b > 0); }",
    "modulo": "static inline int modulo(int a, int b) { return a % b + (a % b < 0 ? b : 0); }",
    "max_int": "static inline int max_int(int a, int b) { return a > b ? a : b; }",
    "min_int": "static inline int min_int(int a, int b) { return a < b ? a : b; }",
}
"""Functions that affine expressions need; divisors are positive."""


def extreme(name: str, parts: Sequence[Text]) -> Text:
    """The largest (`max_int`) or smallest (`min_int`) of one or more indices."""
    found = parts[0]
    for part in parts[1:]:
        found = call(name, [found, part])
    return found
