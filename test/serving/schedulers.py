"""A scheduler on a loop of its own, and models that tests hold up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable, Sequence

import numpy as np

from dlc.serving.batching import batch_key
from dlc.serving.call import Call, Runners
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


def held(bench: Bench, runner: Doubling) -> Call:
    """A call that runs until `runner.go`, behind which others wait."""
    call = bench.submit(runner, 0.0)
    assert runner.began.wait(SECONDS)
    return call
