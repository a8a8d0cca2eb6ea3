"""Bounds of sizes that no symbol of the operands expresses: what data decide, and products of sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Any

from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds
from dlc.dialects.dl.types import Dim, TensorType
from dlc.dialects.dl.window import positions_in

BoundsOf = Callable[[Dim], DimBounds]
_WINDOWS = ("dl.conv", "dl.winograd_conv", "dl.max_pool", "dl.avg_pool")
"""Ops whose results have a place for each one of a window."""

Found = Iterator[tuple[Dim, DimBounds]]
SizeRule = Callable[[BoundsOf, Sequence[Any], Sequence[TensorType], Mapping[str, Any]], Found]
"""Gives dims of an op's results with their bounds, from the plain types of its operands and results and its attributes."""


def _product(bounds_of: BoundsOf, dims: Sequence[Dim]) -> DimBounds:
    return reduce(mul, map(bounds_of, dims), DimBounds(1, 1))


def _at_most(bounds: DimBounds) -> DimBounds:
    return DimBounds(0, bounds.most)


def _nonzero(bounds_of: BoundsOf, operands: Sequence[Any], results: Sequence[TensorType], attributes: Mapping[str, Any]) -> Found:
    """No more than x has elements."""
    yield results[0].shape[1], _at_most(_product(bounds_of, operands[0].shape))


def _along_axis(
    bounds_of: BoundsOf, operands: Sequence[Any], results: Sequence[TensorType], attributes: Mapping[str, Any]
) -> Found:
    """No more than x has along the axis: values, then lists of as many."""
    axis = attributes["axis"] % operands[0].rank
    most = _at_most(bounds_of(operands[0].shape[axis]))
    yield results[0].shape[axis], most
    yield from ((each.shape[0], most) for each in results[1:])


def _boxes(bounds_of: BoundsOf, operands: Sequence[Any], results: Sequence[TensorType], attributes: Mapping[str, Any]) -> Found:
    """Each box at most once for each class."""
    yield results[0].shape[0], _at_most(_product(bounds_of, operands[1].shape))


def _slice(bounds_of: BoundsOf, operands: Sequence[Any], results: Sequence[TensorType], attributes: Mapping[str, Any]) -> Found:
    """No more than there is along each axis."""
    for own, dim in zip(operands[0].shape, results[0].shape, strict=True):
        if own != dim:
            yield dim, _at_most(bounds_of(own))


def _reshape(bounds_of: BoundsOf, operands: Sequence[Any], results: Sequence[TensorType], attributes: Mapping[str, Any]) -> Found:
    """The one size that is left over is the number of elements over the others, which must be known."""
    known = [dim for dim in results[0].shape if isinstance(dim, int)]
    rest = [dim for dim in results[0].shape if not isinstance(dim, int)]
    divisor = math.prod(known)
    whole = _product(bounds_of, operands[0].shape)
    if len(rest) == 1 and divisor > 0 and whole != UNBOUNDED:
        yield rest[0], whole.divided(divisor)


def _positions(bounds_of: BoundsOf, operands: Sequence[Any], results: Sequence[TensorType], attributes: Mapping[str, Any]) -> Found:
    """As many places of a window as there are for the least and the most of each axis."""
    for size in operands[0].shape:
        known = bounds_of(size)
        counts = ((dim, positions_in(dim, size)) for result in results for dim in result.shape)
        for dim, count in counts:
            if count is not None:
                yield dim, DimBounds(count(known.least), None if known.most is None else count(known.most))


SIZE_RULES: Mapping[str, SizeRule] = {
    "dl.nonzero": _nonzero,
    "dl.compress": _along_axis,
    "dl.unique": _along_axis,
    "dl.non_max_suppression": _boxes,
    "dl.slice": _slice,
    "dl.reshape": _reshape,
    **dict.fromkeys(_WINDOWS, _positions),
}
