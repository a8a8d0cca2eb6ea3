"""Merges keep a graph free of cycles and its groups in order."""

from __future__ import annotations

import random

import pytest

from dlc.analysis.merge_order import MOST_VISITED, MergeOrder


def test_chain_becomes_one_group() -> None:
    order = MergeOrder(4, [(0, 1), (1, 2), (2, 3)])
    assert [order.merge(at, at + 1) for at in range(3)] == ["merged"] * 3
    assert len({order.group_of(at) for at in range(4)}) == 1


def test_path_through_a_third_group_is_a_cycle() -> None:
    order = MergeOrder(3, [(0, 1), (1, 2), (0, 2)])
    assert order.merge(0, 2) == "cycle"
    assert order.merge(1, 2) == "merged"
    assert order.merge(0, 2) == "merged"


def test_what_depends_on_the_first_moves_behind() -> None:
    order = MergeOrder(3, [(0, 1), (0, 2)])
    assert order.merge(0, 2) == "merged"
    assert order.rank(0) < order.rank(1)


def test_far_groups_stay_apart() -> None:
    count = MOST_VISITED + 10
    order = MergeOrder(count, [(0, at) for at in range(1, count)])
    assert order.merge(0, count - 1) == "far"


def _reaches(edges: set[tuple[int, int]], start: int, end: int) -> bool:
    found, waiting = {start}, [start]
    while waiting:
        current = waiting.pop()
        for before, after in edges:
            if before == current and after not in found:
                found.add(after)
                waiting.append(after)
    return end in found


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int) -> None:
    choose = random.Random(seed)
    count = choose.randint(3, 14)
    edges = {(a, b) for b in range(count) for a in range(b) if choose.random() < 0.3}
    order = MergeOrder(count, sorted(edges))
    for _ in range(20):
        if not edges:
            return
        one, other = choose.choice(sorted(edges))
        groups = {(order.group_of(a), order.group_of(b)) for a, b in edges}
        first, last = order.group_of(one), order.group_of(other)
        if first == last:
            continue
        indirect = any(a == first and b != last and _reaches(groups - {(a, a)}, b, last) for a, b in groups if b != first)
        assert (order.merge(one, other) == "merged") == (not indirect)
        for a, b in edges:
            assert order.group_of(a) == order.group_of(b) or order.rank(a) < order.rank(b)
