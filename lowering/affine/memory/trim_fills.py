"""Padding is written around what it surrounds, not below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.forwarding import local_users
from dlc.lowering.affine.ir.loops import SCHEDULE, Bound
from dlc.lowering.affine.ir.padding import Inside, ancestors, box_of, filled_with
from dlc.lowering.affine.memory.box_loops import BoxRange, store_in_box
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class AffineTrimFills(Pass):
    """Fill only what the next writer of a local buffer leaves of it.

    before: affine.for %i = 0 to 66 { affine.for %j = 0 to 66 { store %zero, %p[%i, %j] } }    a copy to %p[1..65, 1..65]
    after:  rows 0 and 65, then columns 0 and 65 of the rows between, in nests of their own    the same copy

    A nest has to write all of a box before anything reads the buffer; both may stand in loops along other axes. The whole buffer is
    filled as before if the part outside the box takes half of its stores; sizes that run time knows count as usual ones, padded
    alike on both sides. Times with whole fills beside those without, on one core of AVX-512: 3x3 taps by Winograd's tiles over 32
    channels of 256x256 1.09, 5x5 taps over 16 channels of 28x28 1.08, 3x3 taps over 64 channels of 56x56 1.02.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite the fills of one function."""
        for alloc in [inner for inner in nested_ops(op) if inner.name == "memref.alloc"]:  # before fills of some are erased
            _trim(alloc)


@dataclass(frozen=True)
class _Axis:
    """What the next writer of a buffer writes along an axis; `shared` is the index of a loop along it that the fill is in, too."""

    inside: Inside
    shared: ir.Value | None = None


def _trim(alloc: ir.Operation) -> None:
    buffer, users = alloc.results[0], local_users(alloc)
    fill = next((user for user in users or [] if user.name == "affine.store" and filled_with(user, buffer) is not None), None)
    if fill is None or users is None:
        return
    top = _nest_of_fill(fill)
    box = _box_after(top, fill, buffer, [user for user in users if user != fill])
    if SCHEDULE in top.attributes or box is None:
        return
    slabs = list(_slabs(box))
    if sum(map(_stores, slabs)) > policy().memory.fill_share * _stores(list(map(_all_of, box))):
        return
    with ir.InsertionPoint(top), top.location:
        for slab in slabs:
            store_in_box([part.range for part in slab], buffer, lambda _: fill.operands[0])
    top.erase()


def _nest_of_fill(fill: ir.Operation) -> ir.Operation:
    """The outermost loop that does nothing but fill."""
    return next((inner for inner, outer in pairwise(ancestors(fill)) if not _only_fills(outer)), ancestors(fill)[-1])


def _only_fills(top: ir.Operation) -> bool:
    """Whether the nest holds nothing but one store."""
    names = [op.name for op in nested_ops(top)]
    return names.count("affine.store") == 1 and set(names) <= {"affine.for", "affine.store", "affine.yield"}


def _box_after(top: ir.Operation, fill: ir.Operation, buffer: ir.Value, users: Sequence[ir.Operation]) -> Sequence[_Axis] | None:
    """The part of `buffer` that the next nest to touch it after `top` writes without reading it."""
    later = [(nest, user) for nest, user in _beside(top, users) or [] if top.is_before_in_block(nest)]
    inside = [user for nest, user in later if not any(other.is_before_in_block(nest) for other, _ in later)]
    return _axes(top, fill, inside[0], buffer) if len(inside) == 1 and inside[0].name == "affine.store" else None


def _beside(top: ir.Operation, users: Sequence[ir.Operation]) -> list[tuple[ir.Operation, ir.Operation]] | None:
    """The nests beside `top` that hold `users`, each with its user; None where one is neither there nor in a nest apart."""
    outermost, found = ancestors(top)[-1], []
    for user in users:
        around = ancestors(user)
        nest = next((op for op in around if op.block == top.block), None)
        if nest is not None:
            found.append((nest, user))
        elif around[-1] == outermost or around[-1].block != outermost.block:
            return None
    return found


def _axes(top: ir.Operation, fill: ir.Operation, store: ir.Operation, buffer: ir.Value) -> Sequence[_Axis] | None:
    """What `store` writes of `buffer`; None where that is not known, or where it goes another way in the loops around `top`."""
    filled, found = box_of(fill, buffer), box_of(store, buffer)
    if filled is None or found is None or not all(map(_has_plain_ends, found[0])):
        return None
    around = [loop.regions[0].blocks[0].arguments[0] for loop in ancestors(top)[1:]]
    axes = list(map(partial(_axis, around), *found, filled[1]))
    return None if any(axis is None for axis in axes) else [axis for axis in axes if axis is not None]


def _axis(around: Sequence[ir.Value], inside: Inside, index: ir.Value | None, filled: ir.Value | None) -> _Axis | None:
    """An axis, `inside` of which `index` counts and all of which `filled` does; None where only one is of a loop `around`."""
    shared = [iv for iv in (index, filled) if iv is not None and iv in around]
    if not shared:
        return _Axis(inside)
    return _Axis(inside, shared[0]) if len(shared) == 2 and shared[0] == shared[1] and inside.is_whole else None


def _has_plain_ends(axis: Inside) -> bool:
    """Whether the ends of the box and of the axis are numbers, or values themselves."""
    return all(bound is None or bound == Bound.symbol(bound.operands[0]) for bound in (axis.count, axis.total))


@dataclass(frozen=True)
class _Part:
    """A range along an axis, and how long it usually is."""

    range: BoxRange
    likely: int


def _slabs(box: Sequence[_Axis]) -> Iterator[list[_Part]]:
    """Boxes, each a range along every axis, that cover all but `box`: along the first axes whole rows."""
    for place, axis in enumerate(box):
        for part in _around(axis.inside):
            yield [*map(_inside, box[:place]), part, *map(_all_of, box[place + 1 :])]


def _around(axis: Inside) -> Iterator[_Part]:
    """What of an axis is before the box and after it."""
    if axis.begin:
        yield _Part(BoxRange.of(0, axis.begin), axis.begin)
    is_open = axis.count is not None or axis.total is not None
    after = axis.begin if is_open else axis.size - axis.begin - axis.extent
    if not axis.is_whole and (is_open or after):
        yield _Part(BoxRange((_end(axis),), (_size(axis),)), max(1, after))


def _inside(axis: _Axis) -> _Part:
    return _written(axis.inside) if axis.shared is None else _one(axis.shared)


def _all_of(axis: _Axis) -> _Part:
    return _whole(axis.inside) if axis.shared is None else _one(axis.shared)


def _one(index: ir.Value) -> _Part:
    """The place at an index."""
    return _Part(BoxRange((Linear({index: 1}),), (Linear({index: 1}, 1),)), 1)


def _written(axis: Inside) -> _Part:
    return _Part(
        BoxRange((Linear({}, axis.begin),), (_end(axis),)), axis.extent if axis.count is None else policy().cost.assumed_trips
    )


def _whole(axis: Inside) -> _Part:
    return _Part(BoxRange((Linear({}),), (_size(axis),)), axis.size if axis.total is None else policy().cost.assumed_trips)


def _end(axis: Inside) -> Linear:
    return Linear({}, axis.begin + axis.extent) if axis.count is None else Linear({axis.count.operands[0]: 1}, axis.begin)


def _size(axis: Inside) -> Linear:
    return Linear({}, axis.size) if axis.total is None else Linear({axis.total.operands[0]: 1})


def _stores(slab: Sequence[_Part]) -> int:
    """Stores of vectors along the last axis."""
    *outer, last = (part.likely for part in slab)
    return math.prod(outer) * -(-last // policy().graph.long_row)
