"""Which ops of a block run together as one statement.

A statement is a store (or another op that others see) with the ops of its block that compute what it stores. Two of them become
one where they share such an op, or where a store of one lies between an op and the store of the other and may touch what it
reads: a statement runs as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir

FREE_OPS = ("arith.constant", "affine.apply", "memref.dim", "affine.min", "affine.max")
"""Ops that cost nothing, so that each statement may have its own copy."""


@dataclass(frozen=True, eq=False)
class Group:
    """`ops` in the order of their block; `first` and `last` are their places in it."""

    ops: tuple[ir.Operation, ...]
    first: int
    last: int


def group_ops(
    block_ops: Sequence[ir.Operation], roots: Sequence[int], clashes: Callable[[ir.Operation, ir.Operation], bool]
) -> list[Group]:
    """The statements of a run of ops without loops between them.

    `roots` are the places of the ops that others see; `clashes(a, b)` tells whether `a` and `b` touch the same memory and one
    of them writes. Groups come in the order of their last ops.
    """
    place = {op: index for index, op in enumerate(block_ops)}
    groups = [_needed_by(root, block_ops, place) for root in roots]
    merged: list[set[int]] = []
    for members in groups:
        for other in [other for other in merged if _belong_together(members, other, block_ops, clashes)]:
            merged.remove(other)
            members |= other
        merged.append(members)
    merged = _until_stable(merged, block_ops, clashes)
    found = [Group(tuple(block_ops[index] for index in sorted(members)), min(members), max(members)) for members in merged]
    return sorted(found, key=lambda group: group.last)


def _needed_by(root: int, block_ops: Sequence[ir.Operation], place: dict[ir.Operation, int]) -> set[int]:
    """The places of `root` and of the ops among `block_ops` that it needs."""
    found, waiting = set(), [root]
    while waiting:
        index = waiting.pop()
        if index in found:
            continue
        found.add(index)
        for operand in block_ops[index].operands:
            if not isinstance(operand, ir.BlockArgument) and operand.owner.operation in place:
                waiting.append(place[operand.owner.operation])
    return found


def _until_stable(
    merged: list[set[int]], block_ops: Sequence[ir.Operation], clashes: Callable[[ir.Operation, ir.Operation], bool]
) -> list[set[int]]:
    """Merge groups until no two belong together."""
    for one in merged:
        for other in merged:
            if one is not other and _belong_together(one, other, block_ops, clashes):
                rest = [group for group in merged if group is not one and group is not other]
                return _until_stable([*rest, one | other], block_ops, clashes)
    return merged


def _belong_together(
    one: set[int], other: set[int], block_ops: Sequence[ir.Operation], clashes: Callable[[ir.Operation, ir.Operation], bool]
) -> bool:
    """Whether the groups share an op that costs something, or an access of the other comes between those of one."""
    if any(block_ops[index].name not in FREE_OPS for index in one & other):
        return True
    return _interleaves(one, other, block_ops, clashes) or _interleaves(other, one, block_ops, clashes)


def _interleaves(
    one: set[int], other: set[int], block_ops: Sequence[ir.Operation], clashes: Callable[[ir.Operation, ir.Operation], bool]
) -> bool:
    """Whether running `one` at the place of its last op moves one of its ops over a clashing op of `other`."""
    last = max(one)
    return any(index < between < last and clashes(block_ops[index], block_ops[between]) for index in one for between in other)
