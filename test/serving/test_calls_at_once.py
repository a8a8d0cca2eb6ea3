"""Calls that run on the event loop's thread: quick ones, and those that arrive in one turn of the loop."""

from __future__ import annotations

import time

import numpy as np
import pytest
from schedulers import SECONDS, Bench, Doubling, Slow, held

from dlc.errors import InvalidInputError
from dlc.serving.call import Runners
from dlc.serving.errors import InvalidRequestError, QueueFullError, StoppingError


def test_calls_among_others_run_on_one_thread_where_all_are_no_faster(bench: Bench) -> None:
    wide, narrow = Doubling(), Slow(0.0, 0.0)
    wide.go.set()
    wide.runners = Runners(wide, narrow)
    inputs = [np.full((1, 2), 3.0, np.float32)]
    bench.answer(bench.submit(wide, 3.0, is_batched=False))
    bench.settle()
    for is_alone in (True, False):
        for _ in range(30):
            bench.takes(100e-6)
            assert bench.scheduler.answer_at_once(wide.runners, inputs, is_alone) is not None
        assert bool(narrow.calls) != is_alone
    assert len(wide.calls) >= 31 + 5 and len(narrow.calls) >= 5
    assert len(wide.calls) + len(narrow.calls) == 61


def test_quick_calls_run_at_once(bench: Bench) -> None:
    """Such as others with their shapes were, where nobody waits; failures are theirs alone."""
    runner = Doubling(InvalidInputError("13 is bad luck"))
    runner.go.set()
    inputs = [np.full((1, 2), 3.0, np.float32)]
    assert bench.scheduler.answer_at_once(runner.runners, inputs, True) is None
    found = None
    for _ in range(100):
        bench.answer(bench.submit(runner, 3.0, is_batched=False))
        bench.settle()
        found = found or bench.scheduler.answer_at_once(runner.runners, inputs, True)
    assert found is not None and found[0].tolist() == [[6.0, 6.0]]
    assert bench.scheduler.answer_at_once(runner.runners, [np.full((2, 2), 3.0, np.float32)], True) is None
    bench.settle()
    bench.takes(100e-6)
    with pytest.raises(InvalidRequestError, match="13 is bad luck"):
        bench.scheduler.answer_at_once(runner.runners, [np.full((1, 2), 13.0, np.float32)], False)
    blocker = Doubling()
    held(bench, blocker)
    bench.takes(100e-6)
    assert bench.scheduler.answer_at_once(runner.runners, inputs, True) is None
    blocker.go.set()


@pytest.mark.parametrize(("seconds", "is_quick"), [(500e-6, True), (2e-3, False)])
def test_only_quick_calls_run_at_once(bench: Bench, seconds: float, is_quick: bool) -> None:
    runner = Doubling()
    runner.go.set()
    bench.answer(bench.submit(runner, 3.0, is_batched=False))
    bench.settle()
    bench.takes(seconds)
    found = bench.scheduler.answer_at_once(runner.runners, [np.full((1, 2), 3.0, np.float32)], True)
    assert (found is not None) == is_quick


def test_one_slow_call_among_quick_ones_is_not_believed() -> None:
    bench, runner = Bench(max_batch=1), Slow(0.05, 0.0)
    bench.answer(bench.submit(runner, 3.0, is_batched=False))
    bench.settle()
    bench.takes(100e-6)
    inputs = [np.full((1, 2), 3.0, np.float32)]
    assert bench.scheduler.answer_at_once(runner.runners, inputs, True) is not None
    assert bench.scheduler.answer_at_once(runner.runners, inputs, True) is not None
    assert bench.scheduler.answer_at_once(runner.runners, inputs, True) is None
    bench.close()


def test_calls_that_arrive_together_run_at_once(bench: Bench) -> None:
    """Where such batches are quick: on the loop's thread, which the first one does not."""
    runner = Doubling()
    runner.go.set()
    assert bench.values(bench.gather(runner, [1.0, 2.0, 3.0])) == [2.0, 4.0, 6.0]
    bench.settle()
    bench.takes(500e-6)
    assert bench.values(bench.gather(runner, [4.0, 5.0, 6.0])) == [8.0, 10.0, 12.0]
    bench.takes(2e-3)
    assert bench.values(bench.gather(runner, [7.0, 8.0])) == [14.0, 16.0]
    assert runner.calls[0] == [1.0, 2.0, 3.0]
    assert [name.startswith("dlc serve") for name in runner.threads] == [True, *[False] * (len(runner.threads) - 2), True]


def test_calls_that_arrive_together_run_in_batches_that_fit(bench: Bench) -> None:
    runner = Doubling()
    runner.go.set()
    for _ in range(2):
        values = [float(value) for value in range(6)]
        assert bench.values(bench.gather(runner, values)) == [2 * value for value in values]
        bench.settle()
        bench.takes(500e-6)
    assert sorted(runner.calls[0]) == [0.0, 1.0, 2.0, 3.0] and runner.calls[1] == [4.0, 5.0]
    assert bench.figures.rows == [4, 2, 4, 2]
    assert not runner.threads[-1].startswith("dlc serve")


def test_calls_that_are_gathered_count_as_waiting(bench: Bench) -> None:
    runner = Doubling()
    runner.go.set()
    with pytest.raises(QueueFullError, match="6 requests wait for model 'm' already"):
        bench.gather(runner, [1.0] * 7)
    until_empty = time.monotonic() + SECONDS
    while bench.scheduler.waiting and time.monotonic() < until_empty:
        time.sleep(0.01)
    assert bench.values(bench.gather(runner, [3.0])) == [6.0]


def test_gathered_calls_wait_for_others_and_can_be_abandoned() -> None:
    bench, runner = Bench(max_batch=3, max_delay=SECONDS), Doubling()
    runner.go.set()
    first = bench.gather(runner, [1.0, 2.0])
    bench.scheduler.abandon(first[1])
    assert bench.scheduler.waiting == 1
    assert bench.values([first[0], *bench.gather(runner, [3.0, 4.0])]) == [2.0, 6.0, 8.0]
    assert runner.calls[0] == [1.0, 3.0, 4.0]
    last = bench.gather(runner, [5.0])
    bench.scheduler.close()
    assert bench.values(last) == [10.0]
    with pytest.raises(StoppingError, match="model 'm' is being stopped"):
        bench.gather(runner, [6.0])
    bench.close()
