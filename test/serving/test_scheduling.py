"""Queues and batches, with models that tests hold up."""

from __future__ import annotations

import time

import numpy as np
import pytest
from schedulers import SECONDS, Bench, Doubling, Slow, held

from dlc.errors import CancelledError, InvalidInputError, OutOfMemoryError
from dlc.serving.errors import InvalidRequestError, QueueFullError, ServingError, StoppingError


def test_calls_that_wait_become_batches(bench: Bench) -> None:
    runner = Doubling()
    calls = [held(bench, runner), *(bench.submit(runner, float(value)) for value in range(1, 7))]
    runner.go.set()
    assert [bench.answer(call).tolist() for call in calls] == [[[2.0 * value] * 2] for value in range(7)]
    assert runner.calls == [[0.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0]]
    assert bench.figures.rows == [1, 4, 2]


def test_batches_hold_what_fits(bench: Bench) -> None:
    """Other widths and other models are not joined; a call of many rows runs alone; the oldest goes first."""
    runner, other = Doubling(), Doubling()
    other.go.set()
    calls = [held(bench, runner)]
    calls += [bench.submit(runner, 1.0, rows=3), bench.submit(runner, 2.0, width=3), bench.submit(runner, 3.0, rows=2)]
    calls += [bench.submit(other, 4.0), bench.submit(runner, 5.0), bench.submit(runner, 6.0, rows=9)]
    runner.go.set()
    assert [bench.answer(call).shape for call in calls] == [(1, 2), (3, 2), (1, 3), (2, 2), (1, 2), (1, 2), (9, 2)]
    assert runner.calls == [[0.0], [1.0, 1.0, 1.0, 5.0], [2.0], [3.0, 3.0], [6.0] * 9]
    assert other.calls == [[4.0]]


def test_the_first_of_a_batch_waits_for_others() -> None:
    bench, runner = Bench(max_batch=3, max_delay=SECONDS), Doubling()
    runner.go.set()
    calls = [bench.submit(runner, float(value)) for value in range(3)]  # full: the delay is not waited for
    assert [bench.answer(call)[0, 0] for call in calls] == [0.0, 2.0, 4.0]
    assert runner.calls == [[0.0, 1.0, 2.0]]
    bench.close()
    bench = Bench(max_batch=3, max_delay=0.05)
    begin = time.perf_counter()
    assert bench.answer(bench.submit(runner, 1.0))[0, 0] == 2.0
    assert time.perf_counter() - begin >= 0.05
    bench.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidInputError("13 is bad luck"), InvalidRequestError),
        (OutOfMemoryError("no memory for 13"), QueueFullError),
        (ZeroDivisionError("a bug"), ServingError),
    ],
)
def test_a_request_that_fails_hurts_no_other(bench: Bench, error: Exception, kind: type[ServingError]) -> None:
    runner = Doubling(error)
    calls = [held(bench, runner), *(bench.submit(runner, value) for value in (1.0, 13.0, 2.0))]
    runner.go.set()
    assert [bench.answer(call)[0, 0] for call in (calls[0], calls[1], calls[3])] == [0.0, 2.0, 4.0]
    with pytest.raises(kind, match=str(error)):
        bench.answer(calls[2])
    assert runner.calls == [[0.0], [1.0, 13.0, 2.0], [1.0], [13.0], [2.0]]


@pytest.mark.parametrize(("joined", "apart"), [(0.02, 0.0), (0.0, 0.02)])
def test_batches_run_the_faster_way(joined: float, apart: float) -> None:
    """All are tried five times, then the fastest one is left to run."""
    bench, runner = Bench(max_batch=3, max_delay=SECONDS), Slow(joined, apart)
    for number in range(19):
        calls = [bench.submit(runner, number * 10.0 + value) for value in range(3)]
        assert [bench.answer(call)[0, 0] for call in calls] == [(number * 10 + value) * 2.0 for value in range(3)]
    bench.close()
    assert runner.many == ([3] * 9 if joined else [3] * 5)


def test_a_request_that_fails_side_by_side_hurts_no_other() -> None:
    bench, runner = Bench(max_batch=2, max_delay=SECONDS), Doubling(InvalidInputError("13 is bad luck"))
    runner.go.set()
    for value in (1.0, 13.0):  # joined, then side by side
        calls = [bench.submit(runner, each) for each in (value, 2.0)]
        assert bench.answer(calls[1])[0, 0] == 4.0
    with pytest.raises(InvalidRequestError, match="13 is bad luck"):
        bench.answer(calls[0])
    assert runner.many == [2]
    bench.close()


def test_the_queue_is_bounded(bench: Bench) -> None:
    runner = Doubling()
    calls = [held(bench, runner), *(bench.submit(runner, 1.0) for _ in range(6))]
    assert bench.scheduler.waiting == 6
    with pytest.raises(QueueFullError, match="6 requests wait for model 'm' already; try again later"):
        bench.submit(runner, 1.0)
    runner.go.set()
    for call in calls:
        bench.answer(call)
    assert bench.answer(bench.submit(runner, 3.0))[0, 0] == 6.0


def test_abandoned_calls_leave_the_queue_and_end(bench: Bench) -> None:
    runner = Doubling(CancelledError("cancelled"))
    running = bench.submit(runner, 13.0)
    assert runner.began.wait(SECONDS)
    waiting = bench.submit(runner, 1.0)
    last = bench.submit(runner, 2.0)
    bench.scheduler.abandon(waiting)
    assert (bench.scheduler.waiting, runner.cancelled) == (1, 0)
    bench.scheduler.abandon(running)
    assert runner.cancelled == 1
    assert bench.answer(last)[0, 0] == 4.0
    assert runner.calls == [[13.0], [2.0]]


def test_a_batch_is_ended_when_nobody_wants_it(bench: Bench) -> None:
    runner, blocker = Doubling(), Doubling()
    held(bench, blocker)
    calls = [bench.submit(runner, 1.0), bench.submit(runner, 2.0)]
    blocker.go.set()
    assert runner.began.wait(SECONDS)
    bench.scheduler.abandon(calls[0])
    assert not runner.cancelled
    bench.scheduler.abandon(calls[1])
    assert runner.cancelled


def test_a_call_that_another_was_cancelled_for_runs_again(bench: Bench) -> None:
    class Once(Doubling):
        def __call__(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
            found = super().__call__(inputs)
            if len(self.calls) == 1:
                raise CancelledError("cancelled")
            return found

    runner = Once()
    runner.go.set()
    assert bench.answer(bench.submit(runner, 4.0))[0, 0] == 8.0
    assert runner.calls == [[4.0], [4.0]]


def test_what_waits_is_answered_after_closing(bench: Bench) -> None:
    runner = Doubling()
    calls = [held(bench, runner), bench.submit(runner, 1.0)]
    bench.scheduler.close()
    with pytest.raises(StoppingError, match="model 'm' is being stopped"):
        bench.submit(runner, 2.0)
    runner.go.set()
    assert [bench.answer(call)[0, 0] for call in calls] == [0.0, 2.0]
