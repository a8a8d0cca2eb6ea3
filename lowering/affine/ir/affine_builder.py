"""Affine expressions over the loops being built: maps with just the operands that they use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir


def substitute(expression: ir.AffineExpr, dims: Sequence[ir.AffineExpr], symbols: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
    """`expression` with its dims and symbols replaced."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return expression
    lhs, rhs = substitute(expression.lhs, dims, symbols), substitute(expression.rhs, dims, symbols)
    if isinstance(expression, ir.AffineAddExpr):
        return lhs + rhs
    if isinstance(expression, ir.AffineMulExpr):
        return lhs * rhs
    build = {
        ir.AffineModExpr: ir.AffineExpr.get_mod,
        ir.AffineFloorDivExpr: ir.AffineExpr.get_floor_div,
        ir.AffineCeilDivExpr: ir.AffineExpr.get_ceil_div,
    }[type(expression)]
    return build(lhs, rhs)


def _used(expressions: Sequence[ir.AffineExpr]) -> tuple[set[int], set[int]]:
    """The positions of the dims and symbols that occur."""
    dims: set[int] = set()
    symbols: set[int] = set()
    waiting = list(expressions)
    while waiting:
        expression = waiting.pop().maybe_downcast()
        if isinstance(expression, ir.AffineDimExpr):
            dims.add(expression.position)
        elif isinstance(expression, ir.AffineSymbolExpr):
            symbols.add(expression.position)
        elif isinstance(expression, ir.AffineBinaryExpr):
            waiting += [expression.lhs, expression.rhs]
    return dims, symbols


@dataclass
class AffineScope:
    """The induction variables around the place of building, as dims, and values from outside, as symbols."""

    variables: list[ir.Value] = field(default_factory=list)
    outside: list[ir.Value] = field(default_factory=list)
    buffers: dict[str, ir.Value] = field(default_factory=dict)
    """Memory that was allocated for arrays which transformations made, by their names."""

    def symbol(self, value: ir.Value) -> ir.AffineExpr:
        """The expression of `value`, defined outside of the loops."""
        if value not in self.outside:
            self.outside.append(value)
        return ir.AffineExpr.get_symbol(self.outside.index(value))

    def map(self, expressions: Sequence[ir.AffineExpr]) -> tuple[ir.AffineMap, list[ir.Value]]:
        """A map with these results and its operands: those dims and symbols alone that occur."""
        dims, symbols, operands = self._renumbered(expressions)
        results = [substitute(expression, dims, symbols) for expression in expressions]
        count = sum(value in self.variables for value in operands)
        return ir.AffineMap.get(count, len(operands) - count, results), operands

    def set(self, constraints: Sequence[tuple[ir.AffineExpr, bool]]) -> tuple[ir.IntegerSet, list[ir.Value]]:
        """The integer set of `(expression, is_equality)` constraints and its operands."""
        expressions = [expression for expression, _ in constraints]
        dims, symbols, operands = self._renumbered(expressions)
        results = [substitute(expression, dims, symbols) for expression in expressions]
        count = sum(value in self.variables for value in operands)
        return ir.IntegerSet.get(count, len(operands) - count, results, [equal for _, equal in constraints]), operands

    def _renumbered(self, expressions: Sequence[ir.AffineExpr]) -> tuple[list[ir.AffineExpr], list[ir.AffineExpr], list[ir.Value]]:
        """New expressions for every dim and symbol, the ones in use numbered from 0, and the values in use."""
        used_dims, used_symbols = (sorted(found) for found in _used(expressions))
        zero = ir.AffineExpr.get_constant(0)
        dims = [ir.AffineExpr.get_dim(used_dims.index(at)) if at in used_dims else zero for at in range(len(self.variables))]
        symbols = [
            ir.AffineExpr.get_symbol(used_symbols.index(at)) if at in used_symbols else zero for at in range(len(self.outside))
        ]
        return dims, symbols, [self.variables[at] for at in used_dims] + [self.outside[at] for at in used_symbols]
