"""Affine expressions as data: linear forms, shifts and used dims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlc._mlir import ir


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
