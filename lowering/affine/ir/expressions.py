"""Affine expressions as data: linear forms, shifts and used dims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds


def mentions(expression: ir.AffineExpr, dim: int) -> bool:
    """Whether dim `dim` occurs in `expression`."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return bool(expression.position == dim)
    if isinstance(expression, ir.AffineBinaryExpr):
        return mentions(expression.lhs, dim) or mentions(expression.rhs, dim)
    return False


def coefficient(expression: ir.AffineExpr, dim: int, aligned: int = 0) -> int | None:
    """The factor of dim `dim` in `expression`; None when `expression` is not linear in it.

    With `aligned`, dim grows by less than `aligned` from a multiple of it, so that it stays in one block of so many.
    """
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return int(expression.position == dim)
    if isinstance(expression, ir.AffineAddExpr):
        parts = coefficient(expression.lhs, dim, aligned), coefficient(expression.rhs, dim, aligned)
        return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]
    if isinstance(expression, ir.AffineMulExpr):
        factor = expression.rhs.maybe_downcast()
        inner = coefficient(expression.lhs, dim, aligned)
        if inner is None or inner == 0:
            return inner
        return inner * factor.value if isinstance(factor, ir.AffineConstantExpr) else None
    size = block_size(expression, dim)
    if aligned and size and size % aligned == 0:
        return int(isinstance(expression, ir.AffineModExpr))
    return None if mentions(expression, dim) else 0


def block_size(expression: ir.AffineExpr, dim: int) -> int:
    """By what `expression` divides dim `dim`, with or without the rest; 0 where it does something else."""
    expression = expression.maybe_downcast()
    if not isinstance(expression, (ir.AffineFloorDivExpr, ir.AffineModExpr)):
        return 0
    cut, size = expression.lhs.maybe_downcast(), expression.rhs.maybe_downcast()
    is_dim = isinstance(cut, ir.AffineDimExpr) and cut.position == dim
    return int(size.value) if is_dim and isinstance(size, ir.AffineConstantExpr) else 0


def shifted(indexing: ir.AffineMap, offsets: Mapping[int, int]) -> ir.AffineMap:
    """`indexing` with every dim `d` replaced by `d + offsets[d]`."""
    if not any(offsets.values()):
        return indexing
    dims = [ir.AffineDimExpr.get(dim) + offsets.get(dim, 0) for dim in range(indexing.n_dims)]
    inner = ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, dims)
    results = [expression.compose(inner) for expression in indexing.results]
    return ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, results)


def result_maps(indexing: ir.AffineMap) -> Sequence[ir.AffineMap]:
    """One single-result map per result of `indexing`."""
    return [ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, [result]) for result in indexing.results]


@dataclass(frozen=True)
class Linear:
    """`constant` plus the sum of `factors[value] * value`."""

    factors: Mapping[ir.Value, int]
    constant: int = 0

    def of(self, value: ir.Value) -> int:
        """The factor of `value`."""
        return self.factors.get(value, 0)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """`self + times * other`"""
        factors = dict(self.factors)
        for value, factor in other.factors.items():
            factors[value] = factors.get(value, 0) + times * factor
        return Linear({value: factor for value, factor in factors.items() if factor}, self.constant + times * other.constant)

    def without(self, value: ir.Value) -> Linear:
        """The form without its part in `value`."""
        return Linear({other: factor for other, factor in self.factors.items() if other != value}, self.constant)

    def renamed(self, names: Mapping[ir.Value, ir.Value]) -> Linear:
        """The form with the values `names` in place of their keys."""
        return Linear({names.get(value, value): factor for value, factor in self.factors.items()}, self.constant)

    @property
    def key(self) -> tuple[frozenset[tuple[ir.Value, int]], int]:
        """Equal for equal forms, and hashable."""
        return frozenset(self.factors.items()), self.constant


def linear_forms(indexing: ir.AffineMap, operands: Sequence[ir.Value]) -> tuple[Linear | None, ...]:
    """The results of a map over `operands`; None for those that are not linear."""
    return tuple(linear_form(result, indexing.n_dims, operands) for result in indexing.results)


def linear_form(expression: ir.AffineExpr, dims: int, operands: Sequence[ir.Value]) -> Linear | None:
    """`expression` over `operands` (`dims` of them dims, then symbols); None when it is not linear."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return Linear({}, expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return Linear({operands[expression.position]: 1})
    if isinstance(expression, ir.AffineSymbolExpr):
        return Linear({operands[dims + expression.position]: 1})
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    lhs = linear_form(expression.lhs, dims, operands)
    rhs = linear_form(expression.rhs, dims, operands)
    if lhs is None or rhs is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return lhs.plus(rhs)
    if lhs.factors and rhs.factors:
        return None
    scaled, times = (lhs, rhs.constant) if not rhs.factors else (rhs, lhs.constant)
    return Linear({value: factor * times for value, factor in scaled.factors.items() if times}, scaled.constant * times)


def bounds_of_extent(expression: ir.AffineExpr, dims: Sequence[DimBounds], symbols: Sequence[DimBounds]) -> DimBounds:
    """What is known of an extent from the bounds of its operands; one below zero counts as none."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return DimBounds.of_size(expression.value) if expression.value >= 0 else DimBounds(multiple=-expression.value)
    lhs, rhs = bounds_of_extent(expression.lhs, dims, symbols), bounds_of_extent(expression.rhs, dims, symbols)
    if isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        found = lhs + rhs if isinstance(expression, ir.AffineAddExpr) else lhs * rhs
        return DimBounds(multiple=found.multiple) if _may_be_negative(expression) else found
    if rhs.most is None or rhs.least != rhs.most or not rhs.most:
        return UNBOUNDED
    if isinstance(expression, ir.AffineModExpr):
        return lhs.rest(rhs.most)
    if isinstance(expression, ir.AffineFloorDivExpr):
        return lhs.floor_divided(rhs.most)
    is_exact = lhs.multiple % rhs.most == 0
    return (lhs if is_exact else lhs + DimBounds.of_size(rhs.most - 1)).floor_divided(rhs.most)


def _may_be_negative(expression: ir.AffineExpr) -> bool:
    """Whether a negative number occurs in `expression`."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineBinaryExpr):
        return _may_be_negative(expression.lhs) or _may_be_negative(expression.rhs)
    return isinstance(expression, ir.AffineConstantExpr) and expression.value < 0


Extents = Callable[[ir.Value], "int | None"]
"""The number of iterations of the loop with a given induction variable; None when it is not known."""


def span(form: Linear, extent_of: Extents) -> tuple[int, int] | None:
    """The least and the largest value of `form`; None when a part of it has no known bounds."""
    low = high = form.constant
    for value, factor in form.factors.items():
        extent = extent_of(value)
        if extent is None:
            return None
        reach = factor * max(extent - 1, 0)
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high
