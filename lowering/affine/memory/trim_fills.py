"""Padding is written around what it surrounds, not below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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

    A nest has to write all of a box before anything reads the buffer. The whole buffer is filled as before if the part outside the
    box takes half of its stores; sizes that run time knows count as usual ones, padded alike on both sides. Times with whole fills
    beside those without, on one core of AVX-512: 3x3 taps by Winograd's tiles over 32 channels of 256x256 1.09, 5x5 taps over 16
    channels of 28x28 1.08, 3x3 taps over 64 channels of 56x56 1.02.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite the fills of one function."""
        for inner in nested_ops(op):
            if inner.name == "memref.alloc":
                _trim(inner)


def _trim(alloc: ir.Operation) -> None:
    buffer, users = alloc.results[0], local_users(alloc)
    fill = next((user for user in users or [] if user.name == "affine.store" and filled_with(user, buffer) is not None), None)
    if fill is None or users is None:
        return
    top = ancestors(fill)[-1]
    box = _box_after(top, buffer, [user for user in users if user != fill])
    if SCHEDULE in top.attributes or box is None or not _only_fills(top):
        return
    slabs = list(_slabs(box))
    if sum(map(_stores, slabs)) > policy().memory.fill_share * _stores(list(map(_all_of, box))):
        return
    with ir.InsertionPoint(top), top.location:
        for slab in slabs:
            store_in_box([part.range for part in slab], buffer, lambda _: fill.operands[0])
    top.erase()


def _only_fills(top: ir.Operation) -> bool:
    """Whether the nest holds nothing but one store."""
    names = [op.name for op in nested_ops(top)]
    return names.count("affine.store") == 1 and set(names) <= {"affine.for", "affine.store", "affine.yield"}


def _box_after(top: ir.Operation, buffer: ir.Value, users: Sequence[ir.Operation]) -> Sequence[Inside] | None:
    """The part of `buffer` that the next nest to touch it after `top` writes without reading it."""
    nests = [ancestors(user)[-1] for user in users]
    if any(nest.block != top.block for nest in nests):
        return None
    later = [(nest, user) for nest, user in zip(nests, users, strict=True) if top.is_before_in_block(nest)]
    inside = [user for nest, user in later if not any(other.is_before_in_block(nest) for other, _ in later)]
    if len(inside) != 1 or inside[0].name != "affine.store":
        return None
    found = box_of(inside[0], buffer)
    return found[0] if found and all(map(_has_plain_ends, found[0])) else None


def _has_plain_ends(axis: Inside) -> bool:
    """Whether the ends of the box and of the axis are numbers, or values themselves."""
    return all(bound is None or bound == Bound.symbol(bound.operands[0]) for bound in (axis.count, axis.total))


@dataclass(frozen=True)
class _Part:
    """A range along an axis, and how long it usually is."""

    range: BoxRange
    likely: int


def _slabs(box: Sequence[Inside]) -> Iterator[list[_Part]]:
    """Boxes, each a range along every axis, that cover all but `box`: along the first axes whole rows."""
    for place, axis in enumerate(box):
        for part in _around(axis):
            yield [*map(_inside, box[:place]), part, *map(_all_of, box[place + 1 :])]


def _around(axis: Inside) -> Iterator[_Part]:
    """What of an axis is before the box and after it."""
    if axis.begin:
        yield _Part(BoxRange.of(0, axis.begin), axis.begin)
    is_open = axis.count is not None or axis.total is not None
    after = axis.begin if is_open else axis.size - axis.begin - axis.extent
    if not axis.is_whole and (is_open or after):
        yield _Part(BoxRange((_end(axis),), (_size(axis),)), max(1, after))


def _inside(axis: Inside) -> _Part:
    return _Part(
        BoxRange((Linear({}, axis.begin),), (_end(axis),)), axis.extent if axis.count is None else policy().cost.assumed_trips
    )


def _all_of(axis: Inside) -> _Part:
    return _Part(BoxRange((Linear({}),), (_size(axis),)), axis.size if axis.total is None else policy().cost.assumed_trips)


def _end(axis: Inside) -> Linear:
    return Linear({}, axis.begin + axis.extent) if axis.count is None else Linear({axis.count.operands[0]: 1}, axis.begin)


def _size(axis: Inside) -> Linear:
    return Linear({}, axis.size) if axis.total is None else Linear({axis.total.operands[0]: 1})


def _stores(slab: Sequence[_Part]) -> int:
    """Stores of vectors along the last axis."""
    *outer, last = (part.likely for part in slab)
    return math.prod(outer) * -(-last // policy().graph.long_row)
