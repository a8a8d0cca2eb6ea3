"""Shared by contractions and normalisations: products that accumulate, generics over some axes of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, REDUCTION, Body, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.targets.machine import is_for_gpu


@dataclass(frozen=True)
class Loops:
    """The loops of a contraction: `parallel` of them, then `reduction`; `map` gives indexing maps over them."""

    parallel: int
    reduction: int

    @property
    def iterators(self) -> list[str]:
        """Iterator types, parallel ones first."""
        return [PARALLEL] * self.parallel + [REDUCTION] * self.reduction

    def dims(self) -> list[ir.AffineExpr]:
        """The index of each loop."""
        return [ir.AffineExpr.get_dim(loop) for loop in range(self.parallel + self.reduction)]

    def map(self, results: Sequence[ir.AffineExpr]) -> ir.AffineMap:
        """The map from the loops to `results`."""
        return ir.AffineMap.get(self.parallel + self.reduction, 0, list(results))


def contract(
    b: Builder, loops: Loops, lhs: ir.Value, rhs: ir.Value, start: ir.Value, maps: Sequence[ir.AffineMap], dtype: str
) -> ir.Value:
    """`start` plus the products of `lhs` and `rhs`, of `dtype` or its accumulator's; one generic, unrounded."""
    wide = accumulator_dtype(dtype)

    def body(left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
        return b.arith("add", total, b.arith("mul", widened(b, left, wide), widened(b, right, wide), wide), wide)

    return b.generic([lhs, rhs], start, maps, loops.iterators, body)


def widened(b: Builder, scalar: ir.Value, wide: str) -> ir.Value:
    """A scalar of dtype `wide`, or of a narrower float, as `wide`."""
    kind = b.element(wide)
    return scalar if scalar.type == kind else b.create("arith.extf", [kind], [scalar])


def widened_once(b: Builder, x: ir.Value) -> ir.Value:
    """A tensor whose numbers multiply whole vectors each, f16 as f32: converted one by one they cost as much as the products.

    Not for a GPU, whose tensor cores multiply f16.
    """
    if x.type.element_type != b.element("f16") or is_for_gpu(b.ip.block.owner.operation):
        return x
    return b.map([x], b.shape(x), "f32", lambda element: b.widen(element, "f16"))


def zeros(b: Builder, shape: Sequence[Extent], dtype: str) -> ir.Value:
    """Accumulators for `dtype` that start at zero."""
    return b.full(shape, b.scalar(0, accumulator_dtype(dtype)))


def rounded(b: Builder, value: ir.Value, dtype: str) -> ir.Value:
    """Accumulators of `dtype` as a tensor of it; nothing where that is the same."""
    if accumulator_dtype(dtype) == dtype:
        return value
    return b.map([value], b.shape(value), dtype, lambda element: b.narrow(element, dtype))


Part = tuple[ir.Value, Sequence[int]]
"""A tensor and the axes of a larger one that its own axes are, in order."""


def axes_map(rank: int, axes: Sequence[int]) -> ir.AffineMap:
    """The map from `rank` loops to those of `axes`."""
    return ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(axis) for axis in axes])


def spread(b: Builder, x: ir.Value, parts: Sequence[Part], dtype: str, body: Body) -> ir.Value:
    """`body` on each element of `x` and those of `parts` on its axes; the result has the shape of `x` and `dtype`."""
    rank = x.type.rank
    identity = ir.AffineMap.get_identity(rank)
    maps = [identity, *(axes_map(rank, axes) for _, axes in parts), identity]
    out = b.empty(b.shape(x), dtype)
    return b.generic([x, *(value for value, _ in parts)], out, maps, [PARALLEL] * rank, lambda *scalars: body(*scalars[:-1]))


def reduce_with(b: Builder, x: ir.Value, parts: Sequence[Part], axes: Sequence[int], start: ir.Value, body: Body) -> ir.Value:
    """Reduce `axes` of `x` by `body(element, *elements of parts, total)` from the scalar `start`, and drop them."""
    rank = x.type.rank
    shape = b.shape(x)
    kept = [axis for axis in range(rank) if axis not in set(axes)]
    maps = [ir.AffineMap.get_identity(rank), *(axes_map(rank, at) for _, at in parts), axes_map(rank, kept)]
    out = b.full([shape[axis] for axis in kept], start)
    iterators = [PARALLEL if axis in kept else REDUCTION for axis in range(rank)]
    return b.generic([x, *(value for value, _ in parts)], out, maps, iterators, body)
