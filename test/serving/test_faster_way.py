"""Which way to run calls is taken, by what each took."""

from __future__ import annotations

import pytest

from dlc.serving.faster_way import OF_BATCHES, OF_CALLS, FasterWay, Way


@pytest.mark.parametrize(
    ("all_threads", "one_thread", "way"), [(1.0, 1.0, Way.ONE_THREAD), (1.0, 1.05, Way.ONE_THREAD), (1.0, 1.3, Way.ALL_THREADS)]
)
def test_more_threads_have_to_be_worth_it(all_threads: float, one_thread: float, way: Way) -> None:
    ways = FasterWay(OF_CALLS)
    for number in range(20):
        # One of five waits for a processor.
        seconds = all_threads if ways.next is Way.ALL_THREADS else one_thread
        ways.ran(ways.next, seconds * (10 if number % 5 == 4 else 1))
    assert ways.next is way


def test_slower_ways_are_tried_again() -> None:
    seconds = {Way.ALL_THREADS: 1.0, Way.APART: 2.0, Way.ONE_THREAD: 3.0}
    ways, taken = FasterWay(OF_BATCHES), []
    for _ in range(2000):
        taken.append(ways.next)
        ways.ran(ways.next, seconds[ways.next])
    assert all(1 < taken[15:].count(way) < 10 for way in (Way.APART, Way.ONE_THREAD))
    seconds[Way.APART] = 0.5
    for _ in range(4000):
        ways.ran(ways.next, seconds[ways.next])
    assert ways.next is Way.APART
