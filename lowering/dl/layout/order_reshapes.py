"""Reshapes of values whose axes are stored in another order: possible where the axes that merge or split stay together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc.dialects.dl.types import Dim
from dlc.lowering.dl.layout.axis_orders import AxisOrder, with_axes


@dataclass(frozen=True)
class Regrouping:
    """Blocks of axes of x that hold the same elements as blocks of axes of the result; axes of size 1 are in no block."""

    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    x_units: tuple[int, ...]
    result_units: tuple[int, ...]

    def result_order(self, order: AxisOrder) -> AxisOrder | None:
        """The result's order for x in `order`; None where axes that belong together are apart."""
        return _carried(self.blocks, order, self.x_units, self.result_units)

    def x_order(self, order: AxisOrder) -> AxisOrder | None:
        """The order of x for the result in `order`."""
        swapped = tuple((after, before) for before, after in self.blocks)
        return _carried(swapped, order, self.result_units, self.x_units)


def _carried(
    blocks: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], order: AxisOrder, units: Sequence[int], new_units: Sequence[int]
) -> AxisOrder | None:
    by_first = {before[0]: (before, after) for before, after in blocks}
    axes = [axis for axis in order if axis not in units]
    found: list[int] = []
    while axes:
        before, after = by_first.get(axes[0], ((), ()))
        if not before or tuple(axes[: len(before)]) != before:
            return None
        found.extend(after)
        del axes[: len(before)]
    rank = len(found) + len(new_units)
    kept = [axis for axis in range(rank) if axis not in new_units]
    return with_axes(tuple(kept.index(axis) for axis in found), new_units)


def regrouping(x: Sequence[Dim], result: Sequence[Dim], copied: Sequence[int]) -> Regrouping | None:
    """The blocks of a reshape, as small as its static dims and copied axes show; None where they cannot be told."""
    x_units = tuple(axis for axis, dim in enumerate(x) if dim == 1)
    result_units = tuple(axis for axis, dim in enumerate(result) if dim == 1)
    left = [axis for axis in range(len(x)) if axis not in x_units]
    right = [axis for axis in range(len(result)) if axis not in result_units]
    sources = list(copied) or [-1] * len(result)
    blocks = []
    while left and right:
        block = _next_block(x, result, sources, left, right)
        blocks.append(block)
        del left[: len(block[0])], right[: len(block[1])]
    if left or right:
        return None
    return Regrouping(tuple(blocks), x_units, result_units)


def _next_block(
    x: Sequence[Dim], result: Sequence[Dim], sources: Sequence[int], left: Sequence[int], right: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shortest leading axes of both sides with as many elements; all that is left where no others are known to be."""
    if sources[right[0]] == left[0]:
        return (left[0],), (right[0],)
    above, below, i, j = 1, 1, 0, 0
    while True:
        if above == below and i and j:
            return tuple(left[:i]), tuple(right[:j])
        grow_left = i <= j if above == below else above < below
        side, at, dims = (left, i, x) if grow_left else (right, j, result)
        dim = dims[side[at]] if at < len(side) else None
        if not isinstance(dim, int) or dim == 0:
            return tuple(left), tuple(right)
        if grow_left:
            above, i = above * dim, i + 1
        else:
            below, j = below * dim, j + 1
