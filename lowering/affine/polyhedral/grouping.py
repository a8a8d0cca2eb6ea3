"""Which ops of a block run together as one statement.

A statement is an op that others see (a store, a value that other blocks use) with the ops of its block that compute it. A statement
runs as a whole, at the place of its last op. So two statements become one where they share an op, or where that would move an
access of one past an access of the other that may touch the same element.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op
from dlc.lowering.affine.ir.index_maps import is_index_arithmetic

FREE_OPS = ("arith.constant", "affine.apply", "memref.dim", "affine.min", "affine.max", "memref.get_global", *sorted(VIEW_OPS))
"""Ops that cost nothing, so that each statement may have its own copy; so may it of arithmetic on indices (`is_free`)."""

Touched = Callable[[ir.Operation], "tuple[Hashable, bool] | None"]
"""What an op reads or writes: a key of the array, and whether it writes; None for ops that touch no memory."""


def is_free(op: ir.Operation) -> bool:
    """Whether each statement that needs `op` may have its own copy."""
    return op.name in FREE_OPS or is_index_arithmetic(op)


@dataclass(frozen=True, eq=False)
class StatementGroup:
    """`ops` in the order of their block; `first` and `last` are their places in it."""

    ops: tuple[ir.Operation, ...]
    first: int
    last: int


def group_ops(block_ops: Sequence[ir.Operation], roots: Sequence[int], touched: Touched) -> list[StatementGroup]:
    """The statements of a run of ops without loops between them.

    `roots` are the places of the ops that others see. Groups come in the order of their last ops.
    """
    groups = _Groups(block_ops)
    for root in roots:
        groups.claim(root)
    groups.keep_order(touched)
    return groups.found()


@dataclass
class _Groups:
    """Sets of places that grow together; a set goes by the place that `find` gives."""

    block_ops: Sequence[ir.Operation]
    parent: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    free: dict[int, set[int]] = field(default_factory=dict)
    """The free ops of a set; several sets may have the same."""

    def __post_init__(self) -> None:
        self.place = {op: index for index, op in enumerate(self.block_ops)}
        self.is_free = [is_free(op) for op in self.block_ops]

    def find(self, index: int) -> int:
        while self.parent[index] != index:
            self.parent[index] = self.parent[self.parent[index]]
            index = self.parent[index]
        return index

    def union(self, one: int, other: int) -> int:
        one, other = self.find(one), self.find(other)
        if one == other:
            return one
        if len(self.free[one]) < len(self.free[other]):
            one, other = other, one
        self.parent[other] = one
        self.last[one] = max(self.last[one], self.last.pop(other))
        self.free[one] |= self.free.pop(other)
        return one

    def claim(self, root: int) -> None:
        """Make a set of `root` and what it needs, with the sets that have some of it already."""
        waiting, own = [root], -1
        seen_free: set[int] = set()
        while waiting:
            index = waiting.pop()
            if index in seen_free:
                continue
            if self.is_free[index] and index != root:
                seen_free.add(index)
            elif index in self.parent:
                own = self.union(own, index) if own >= 0 else self.find(index)
                continue
            else:
                self.parent[index], self.last[index], self.free[index] = index, index, set()
                own = self.union(own, index) if own >= 0 else index
            waiting += self._needs(index)
        self.free[self.find(own)] |= seen_free

    def _needs(self, index: int) -> list[int]:
        """The places of the ops here that op number `index` uses."""
        makers = (defining_op(operand) for operand in self.block_ops[index].operands)
        return [self.place[maker] for maker in makers if maker is not None and maker in self.place]

    def keep_order(self, touched: Touched) -> None:
        """Merge sets until running each at the place of its last op keeps the order of accesses to the same array."""
        accesses: dict[Hashable, list[tuple[int, bool]]] = defaultdict(list)
        members: dict[int, list[tuple[Hashable, int, bool]]] = defaultdict(list)
        for index in sorted(self.parent):
            what = touched(self.block_ops[index])
            if what is not None:
                accesses[what[0]].append((index, what[1]))
                members[self.find(index)].append((what[0], index, what[1]))
        waiting = list(members)
        while waiting:
            own = waiting.pop()
            if own not in members or self.find(own) != own:
                continue
            other = self._overtaken(own, members[own], accesses)
            if other is None:
                continue
            both = members.pop(own) + members.pop(other)
            merged = self.union(own, other)
            members[merged] = both
            waiting.append(merged)

    def _overtaken(
        self, own: int, members: Sequence[tuple[Hashable, int, bool]], accesses: dict[Hashable, list[tuple[int, bool]]]
    ) -> int | None:
        """A set that would run before `own` although an access of it comes after one of `own` to the same array."""
        last = self.last[own]
        for key, index, writes in members:
            row = accesses[key]
            for place, other_writes in row[bisect_right(row, (index, True)) :]:
                if place > last:
                    break
                other = self.find(place)
                if (writes or other_writes) and other != own and self.last[other] < last:
                    return other
        return None

    def found(self) -> list[StatementGroup]:
        members: dict[int, set[int]] = defaultdict(set)
        for index in self.parent:
            members[self.find(index)].add(index)
        groups = []
        for own, places in members.items():
            ordered = sorted(places | self.free[own])
            groups.append(StatementGroup(tuple(self.block_ops[index] for index in ordered), ordered[0], ordered[-1]))
        return sorted(groups, key=lambda group: group.last)
