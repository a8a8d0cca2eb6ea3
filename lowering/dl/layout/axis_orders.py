"""Orders of axes: how a value may be stored otherwise than its type says, and what an op becomes when its values are.

An order is a permutation: a value in order p is `transpose(value, p)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlc._mlir import ir
from dlc.dialects.dl.types import Dim

AxisOrder = tuple[int, ...]


def identity(rank: int) -> AxisOrder:
    """The order of the type itself."""
    return tuple(range(rank))


def inverse(order: AxisOrder) -> AxisOrder:
    """The order that undoes `order`."""
    found = [0] * len(order)
    for place, axis in enumerate(order):
        found[axis] = place
    return tuple(found)


def compose(first: AxisOrder, then: AxisOrder) -> AxisOrder:
    """The order of `transpose(transpose(x, first), then)`."""
    return tuple(first[axis] for axis in then)


def channels_last(rank: int) -> AxisOrder:
    """[batch, channels, spatial...] stored as [batch, spatial..., channels]."""
    return (0, *range(2, rank), 1)


def channels_first(rank: int) -> AxisOrder:
    """[batch, spatial..., channels] stored as [batch, channels, spatial...]."""
    return (0, rank - 1, *range(1, rank - 1))


def moves_nothing(order: AxisOrder, shape: Sequence[Dim]) -> bool:
    """Whether only axes of size 1 change their place: the elements stay as they are in memory."""
    kept = [axis for axis in order if shape[axis] != 1]
    return kept == sorted(kept)


def without(order: AxisOrder, axes: Sequence[int]) -> AxisOrder:
    """The order of what is left after `axes` are dropped."""
    kept = [axis for axis in range(len(order)) if axis not in axes]
    return tuple(kept.index(axis) for axis in order if axis not in axes)


def with_axes(order: AxisOrder, axes: Sequence[int]) -> AxisOrder:
    """The order after axes of size 1 are inserted so that they become `axes`; each follows the axis that it follows in the type."""
    rank = len(order) + len(axes)
    kept = [axis for axis in range(rank) if axis not in axes]
    found = [kept[axis] for axis in order]
    for axis in sorted(axes):
        found.insert(found.index(axis - 1) + 1 if axis else 0, axis)
    return tuple(found)


@dataclass(frozen=True)
class Demand:
    """How an op reads an operand: in `order` (None: as it is), after axes of size 1 are put before it up to `rank`.

    A weight may be asked for in a form that is more than an order: `build` makes it then. `folds` says that the op reads single
    elements in any order, so that a transpose which nothing else reads costs nothing.
    """

    order: AxisOrder | None = None
    rank: int = 0
    build: Callable[[ir.Value], ir.Value] | None = None
    folds: bool = False

    def own_order(self, rank: int) -> AxisOrder:
        """The order of the operand's own axes."""
        if self.order is None:
            return identity(rank)
        added = len(self.order) - rank
        return tuple(axis - added for axis in self.order if axis >= added)


AS_IS = Demand()


@dataclass(frozen=True)
class OpOrders:
    """An op on values in other orders: what it reads, the orders of its results, and the attributes that change.

    `scatters` says that the op stores its result in any order, so that a transpose which alone reads it costs nothing.
    """

    operands: tuple[Demand, ...]
    results: tuple[AxisOrder, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    scatters: bool = False
