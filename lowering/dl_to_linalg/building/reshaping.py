"""Reshapes as views: tensor.collapse_shape and tensor.expand_shape on the smallest groups of axes, with dynamic dims."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.types import Dim, TensorType
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent

Groups = list[tuple[list[int], list[int]]]
Signature = tuple[int, tuple[str, ...]]


def reshape(b: Builder, x: ir.Value, source: TensorType, extents: Sequence[Extent], result: TensorType) -> ir.Value:
    """x, of plain type `source`, in another shape; equal symbols in both types keep axes apart that do not change."""
    dtype = source.dtype
    if x.type == b.tensor_type(extents, dtype) and x.type.has_static_shape:
        return x
    if 0 in source.shape or any(isinstance(size, int) and size == 0 for size in extents):
        return b.empty(extents, dtype)
    if not extents:
        return b.collapse(b.cast(x, b.tensor_type([1] * source.rank, dtype)), [])
    if not source.rank:
        return b.cast(b.expand(x, [], [1] * len(extents)), b.tensor_type(extents, dtype))
    groups = axis_groups(source.shape, result.shape)
    if any(len(own) > 1 for own, _ in groups):
        x = b.collapse(x, [own for own, _ in groups])
    x = b.cast(x, b.tensor_type([_merged(b, [extents[axis] for axis in after]) for _, after in groups], dtype))
    if all(len(after) == 1 for _, after in groups):
        return x
    return b.expand(x, [after for _, after in groups], extents)


def axis_groups(source: Sequence[Dim], result: Sequence[Dim]) -> Groups:
    """Pairs of neighbouring axes of two shapes with as many elements each; both sides of a pair are not empty.

    Both shapes must have dims, none 0, and as many elements. Dims that are not known to be equal end up in one pair.
    """
    front = _boundaries(source, result)
    start = front[-1]
    back = _boundaries(source[start[0] :][::-1], result[start[1] :][::-1])
    ends = [(len(source) - own, len(result) - other) for own, other in reversed(back)]
    cuts = [*front, *(cut for cut in ends if cut != start)]
    pairs = [(list(range(first[0], last[0])), list(range(first[1], last[1]))) for first, last in itertools.pairwise(cuts)]
    return _without_empty(pairs)


def product_of(dims: Sequence[Dim]) -> Signature:
    """Product of dims as a number and symbols."""
    return _prefixes(dims)[-1]


def _boundaries(source: Sequence[Dim], result: Sequence[Dim]) -> list[tuple[int, int]]:
    """Places (i, j) where the first i dims of one shape have the product of the first j of the other, in order."""
    own, other = _prefixes(source), _prefixes(result)
    found = [(0, 0)]
    for j in range(1, len(other)):
        for i in range(found[-1][0] + 1, len(own)):
            if own[i] == other[j]:
                found.append((i, j))
                break
    return found


def _prefixes(dims: Sequence[Dim]) -> list[Signature]:
    """Product of the first dims, for each count of them, as a number and symbols."""
    count, symbols = 1, []
    found: list[Signature] = [(1, ())]
    for dim in dims:
        if isinstance(dim, int):
            count *= dim
        else:
            symbols.append(str(dim))
        found.append((count, tuple(sorted(symbols))))
    return found


def _without_empty(pairs: Groups) -> Groups:
    """The pairs with those that have an empty side joined to a neighbour."""
    found: Groups = []
    for own, other in pairs:
        if found and (not own or not other or not found[-1][0] or not found[-1][1]):
            found[-1] = (found[-1][0] + own, found[-1][1] + other)
        else:
            found.append((own, other))
    return found


def _merged(b: Builder, extents: Sequence[Extent]) -> Extent:
    """Something with the static knowledge of a product: only its type is used."""
    if all(isinstance(size, int) for size in extents):
        return b.num_elements(extents)
    return next(size for size in extents if not isinstance(size, int))
