"""Queues and batches, with models that tests hold up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pytest

from dlc.errors import CancelledError, InvalidInputError, OutOfMemoryError
from dlc.serving.batching import batch_key
from dlc.serving.call import Call, Runners
from dlc.serving.errors import InvalidRequestError, QueueFullError, ServingError, StoppingError
from dlc.serving.options import BatchOptions
from dlc.serving.scheduler import Scheduler

SECONDS = 30


class Doubling:
    """Doubles its input once it is let go; 13 makes it fail, with the error given. `calls` are the inputs it was called with,
    `many` how many calls each `run_many` had, `threads` the names of those that it ran on."""

    def __init__(self, error: Exception | None = None) -> None:
        self.go = threading.Event()
        self.began = threading.Event()
        self.calls: list[list[float]] = []
        self.many: list[int] = []
        self.threads: list[str] = []
        self.cancelled = 0
        self._error = error
        self.runners = Runners(self, self)

    def __call__(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        self.calls.append(inputs[0][:, 0].tolist())
        self.threads.append(threading.current_thread().name)
        self.began.set()
        assert self.go.wait(SECONDS)
        if self._error is not None and 13 in inputs[0]:
            raise self._error
        return [inputs[0] * 2]

    def run_many(self, requests: Iterable[list[np.ndarray]]) -> list[list[np.ndarray]]:
        self.many.append(len(waiting := list(requests)))
        return [self(inputs) for inputs in waiting]

    def cancel(self) -> None:
        self.cancelled += 1
        self.go.set()


class Figures:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def ran(self, waits: Sequence[float], seconds: float, rows: int) -> None:
        assert all(0 <= wait < SECONDS for wait in waits) and 0 <= seconds < SECONDS
        self.rows.append(rows)


class Bench:
    """A scheduler on a loop of its own, and calls to it."""

    def __init__(self, **options: float) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.figures = Figures()
        self.scheduler = Scheduler("m", BatchOptions(**options), self.loop, self.figures)

    def submit(self, runner: Doubling, value: float, rows: int = 1, width: int = 2, is_batched: bool = True) -> Call:
        async def submitted() -> Call:
            inputs = [np.full((rows, width), value, np.float32)]
            call = Call(runner.runners, inputs, batch_key(inputs) if is_batched else None, rows, self.loop.create_future())
            self.scheduler.submit(call)
            return call

        return asyncio.run_coroutine_threadsafe(submitted(), self.loop).result(SECONDS)

    def gather(self, runner: Doubling, values: Sequence[float]) -> list[Call]:
        """Calls that arrive in one turn of the loop."""

        async def gathered() -> list[Call]:
            calls = []
            for value in values:
                inputs = [np.full((1, 2), value, np.float32)]
                calls.append(Call(runner.runners, inputs, batch_key(inputs), 1, self.loop.create_future()))
                self.scheduler.gather(calls[-1])
            return calls

        return asyncio.run_coroutine_threadsafe(gathered(), self.loop).result(SECONDS)

    def settle(self) -> None:
        """Wait for the scheduler's thread to find that nothing is left: it delivers answers before."""
        end = time.monotonic() + SECONDS
        while self.scheduler._running:
            assert time.monotonic() < end
            time.sleep(0.001)

    def takes(self, seconds: float) -> None:
        """Let the scheduler believe that all that has run so far takes so long."""
        self.scheduler._seconds = dict.fromkeys(self.scheduler._seconds, seconds)

    def values(self, calls: Sequence[Call]) -> list[float]:
        return [float(self.answer(call)[0, 0]) for call in calls]

    def answer(self, call: Call) -> np.ndarray:
        async def answered() -> list[np.ndarray]:
            return await asyncio.wait_for(call.answer, SECONDS)

        (found,) = asyncio.run_coroutine_threadsafe(answered(), self.loop).result(SECONDS)
        return found

    def close(self) -> None:
        self.scheduler.close()
        assert self.scheduler.join(SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS)
        self.loop.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench(max_batch=4, max_delay=0.0, max_queue=6)
    yield made
    made.close()


def held(bench: Bench, runner: Doubling) -> Call:
    """A call that runs until `runner.go`, behind which others wait."""
    call = bench.submit(runner, 0.0)
    assert runner.began.wait(SECONDS)
    return call


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


class Slow(Doubling):
    """Sleeps so long a row when inputs are joined, and when calls run side by side."""

    def __init__(self, joined: float, apart: float) -> None:
        super().__init__()
        self.go.set()
        self._joined, self._apart, self._is_apart = joined, apart, False

    def __call__(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        time.sleep(len(inputs[0]) * (self._apart if self._is_apart else self._joined))
        return super().__call__(inputs)

    def run_many(self, requests: Iterable[list[np.ndarray]]) -> list[list[np.ndarray]]:
        self._is_apart = True
        try:
            return super().run_many(requests)
        finally:
            self._is_apart = False


@pytest.mark.parametrize(("joined", "apart"), [(0.02, 0.0), (0.0, 0.02)])
def test_batches_run_the_faster_way(joined: float, apart: float) -> None:
    """All are tried five times, then the fastest one is left to run."""
    bench, runner = Bench(max_batch=3, max_delay=SECONDS), Slow(joined, apart)
    for number in range(19):
        calls = [bench.submit(runner, number * 10.0 + value) for value in range(3)]
        assert [bench.answer(call)[0, 0] for call in calls] == [(number * 10 + value) * 2.0 for value in range(3)]
    bench.close()
    assert runner.many == ([3] * 9 if joined else [3] * 5)


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


def test_what_waits_is_answered_after_closing(bench: Bench) -> None:
    runner = Doubling()
    calls = [held(bench, runner), bench.submit(runner, 1.0)]
    bench.scheduler.close()
    with pytest.raises(StoppingError, match="model 'm' is being stopped"):
        bench.submit(runner, 2.0)
    runner.go.set()
    assert [bench.answer(call)[0, 0] for call in calls] == [0.0, 2.0]
