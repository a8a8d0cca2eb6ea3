"""Merging nodes of a directed graph without cycles, so that it stays one: an order of the groups that is kept up to date.

The order is repaired after each merge as Pearce and Kelly do ("A dynamic topological sort algorithm for directed acyclic
graphs", 2007): only groups between the two that became one are looked at. A merge that would look at too many is refused,
which keeps the whole near-linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

Outcome = Literal["merged", "cycle", "far"]

MOST_VISITED = 256
"""Groups between two that are looked at before a merge is given up."""


class MergeOrder:
    """Groups of the nodes 0 .. count - 1, at first each node alone, in a topological order."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]) -> None:
        """`edges` go from lower to higher numbers."""
        self._parent = list(range(count))
        self._rank = list(range(count))
        self._next: list[set[int]] = [set() for _ in range(count)]
        self._previous: list[set[int]] = [set() for _ in range(count)]
        for before, after in edges:
            self._next[before].add(after)
            self._previous[after].add(before)

    def group_of(self, node: int) -> int:
        """The number that stands for the group of a node."""
        root = node
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[node] != root:
            self._parent[node], node = root, self._parent[node]
        return root

    def rank(self, node: int) -> int:
        """The place of the node's group in the order: what it depends on has lower ranks."""
        return self._rank[self.group_of(node)]

    def merge(self, one: int, other: int, dry: bool = False) -> Outcome:
        """Make the groups of two nodes one, unless a path from `one` to `other` leads through a third group.

        `one` must not depend on `other`. A `dry` call only says what would happen.
        """
        first, last = self.group_of(one), self.group_of(other)
        low, high = self._rank[first], self._rank[last]
        after = self._reached(first, last, self._next, low, high)
        if isinstance(after, str):
            return after
        if dry:
            return "merged"
        if after:
            before = self._reached(last, first, self._previous, low, high)
            if isinstance(before, str):
                return before
            self._reorder(before, first, last, after)
            high = self._rank[last]
        self._unite(first, last, high)
        return "merged"

    def _reached(self, start: int, avoided: int, links: Sequence[set[int]], low: int, high: int) -> list[int] | Outcome:
        """Groups strictly between the two that paths from `start` reach; no path may reach `avoided` but directly."""
        found: set[int] = set()
        waiting = [start]
        while waiting:
            current = waiting.pop()
            for node in links[current]:
                group = self.group_of(node)
                if group == avoided and current != start:
                    return "cycle"
                if low < self._rank[group] < high and group not in found:
                    found.add(group)
                    waiting.append(group)
            if len(found) > MOST_VISITED:
                return "far"
        return sorted(found, key=self._rank.__getitem__)

    def _reorder(self, before: Sequence[int], first: int, last: int, after: Sequence[int]) -> None:
        """Put what `last` depends on first, then the two, then what depends on `first`, in the places that they have."""
        places = sorted(self._rank[group] for group in (*before, first, last, *after))
        for group, place in zip((*before, first, last, *after), places, strict=True):
            self._rank[group] = place

    def _unite(self, first: int, last: int, rank: int) -> None:
        weight = [len(self._next[group]) + len(self._previous[group]) for group in (first, last)]
        kept, gone = (first, last) if weight[0] >= weight[1] else (last, first)
        self._parent[gone] = kept
        self._rank[kept] = rank
        for links in (self._next, self._previous):
            links[kept] |= links[gone]
            links[gone] = set()
            links[kept] -= {first, last}
