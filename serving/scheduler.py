"""The queue of one model, and the thread that runs its calls, alone or in batches."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import CancelledError
from .batching import FasterWay, joined, split
from .errors import QueueFullError, ServingError, StoppingError, error_of_call
from .metrics import RunFigures
from .options import BatchOptions

_QUICK = 200e-6
"""Seconds that a call may take for the next one like it to run on the event loop's thread: less than two switches of threads cost
on a machine that is busy."""
_MOST_SHAPES = 1024
_NO_WAIT = (0.0,)


class ModelRunner(Protocol):
    """A model: `runtime.engine.Engine`, such as."""

    def __call__(self, *arguments: list[np.ndarray]) -> list[np.ndarray]: ...

    def run_many(self, requests: Iterable[Any]) -> list[list[np.ndarray]]: ...

    def cancel(self) -> None: ...


@dataclass(eq=False)
class Call:
    """One request: inputs in order, what they can be batched with (None: nothing), and where the outputs go."""

    runner: ModelRunner
    inputs: list[np.ndarray]
    key: Hashable | None
    rows: int
    answer: asyncio.Future[list[np.ndarray]]
    since: float = field(default_factory=time.perf_counter)
    is_abandoned: bool = False


class Scheduler:
    """Runs the calls of one model in the order of their arrival, on a thread of its own; quick ones that need not wait at once.

    `submit` and `abandon` are for the thread of `loop`, which answers are delivered on.
    """

    def __init__(self, name: str, options: BatchOptions, loop: asyncio.AbstractEventLoop, observer: RunFigures) -> None:
        self._name, self._options, self._loop, self._observer = name, options, loop, observer
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._running: list[Call] = []
        self._is_closed = False
        self._quick: dict[Hashable, bool] = {}
        """Whether the last call with these shapes was."""
        self._ways: dict[Hashable, FasterWay] = {}
        """Of batches by runner, key and power of two of their rows."""
        self._thread = threading.Thread(target=self._work, name=f"dlc serve {name}", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Requests that wait now."""
        return len(self._waiting)

    def answer_at_once(self, runner: ModelRunner, inputs: list[np.ndarray]) -> list[np.ndarray] | None:
        """The outputs, where nothing waits or runs and the last call with such inputs was quick; else None."""
        if self._waiting or self._running or not self._quick.get(shapes := _shapes(runner, inputs)):
            return None
        begin = time.perf_counter()
        try:
            return runner(inputs)
        except CancelledError:  # which was meant for another call
            return None
        except Exception as error:
            raise error_of_call(error) from None
        finally:
            seconds = time.perf_counter() - begin
            self._quick[shapes] = seconds < _QUICK
            self._observer.ran(_NO_WAIT, seconds, 1)

    def submit(self, call: Call) -> None:
        """Let `call` wait for its turn; `QueueFullError` if too many do already."""
        with self._changed:
            if self._is_closed:
                raise StoppingError(f"model '{self._name}' is being stopped")
            if len(self._waiting) >= self._options.max_queue:
                raise QueueFullError(f"{len(self._waiting)} requests wait for model '{self._name}' already; try again later")
            self._waiting.append(call)
            self._changed.notify()

    def abandon(self, call: Call) -> None:
        """Nobody waits for the answer any more: the call is dropped, or ended if it runs for nobody else."""
        with self._changed:
            call.is_abandoned = True
            with contextlib.suppress(ValueError):
                self._waiting.remove(call)
            if call in self._running and all(each.is_abandoned for each in self._running):
                call.runner.cancel()

    def close(self) -> None:
        """Take no more calls; those that wait are still run."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    @property
    def is_alive(self) -> bool:
        """Whether its thread runs; it ends after `close`."""
        return self._thread.is_alive()

    def join(self, timeout: float) -> bool:
        """Wait for the thread to end after `close`; False if it has not."""
        self._thread.join(timeout)
        return not self.is_alive

    def _work(self) -> None:
        while batch := self._next_batch():
            answers = self._run(batch)
            with contextlib.suppress(RuntimeError):  # the loop is gone, and who waited with it
                self._loop.call_soon_threadsafe(_deliver, batch, answers)

    def _next_batch(self) -> list[Call]:
        """The calls to run next; none when the scheduler is closed and all are done."""
        with self._changed:
            self._running = []
            while True:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                if not self._waiting:
                    return []
                self._wait_for_others(self._waiting[0])
                if self._waiting:  # not all were abandoned meanwhile
                    self._running = self._take()
                    return self._running

    def _wait_for_others(self, first: Call) -> None:
        """Until the batch of `first` is full or its time is over."""
        until = first.since + self._options.max_delay
        while first.key is not None and not self._is_closed and not first.is_abandoned:
            left = until - time.perf_counter()
            if left <= 0 or self._is_full(first):
                return
            self._changed.wait(left)

    def _is_full(self, first: Call) -> bool:
        return sum(call.rows for call in self._waiting if _fits(call, first)) >= self._options.max_batch

    def _take(self) -> list[Call]:
        """The oldest call, and those that wait and may run with it."""
        first = self._waiting.popleft()
        batch, rows, left = [first], first.rows, deque[Call]()
        while first.key is not None and self._waiting and rows < self._options.max_batch:
            call = self._waiting.popleft()
            if _fits(call, first) and rows + call.rows <= self._options.max_batch:
                batch.append(call)
                rows += call.rows
            else:
                left.append(call)
        self._waiting.extendleft(reversed(left))
        return batch

    def _run(self, batch: list[Call]) -> list[list[np.ndarray] | ServingError]:
        begin = time.perf_counter()
        answers = self._answers(batch)
        seconds = time.perf_counter() - begin
        self._observer.ran([begin - call.since for call in batch], seconds, sum(call.rows for call in batch))
        if len(batch) == 1:
            if len(self._quick) >= _MOST_SHAPES:
                self._quick = {}
            self._quick[_shapes(batch[0].runner, batch[0].inputs)] = seconds < _QUICK
        return answers

    def _answers(self, batch: list[Call]) -> list[list[np.ndarray] | ServingError]:
        if len(batch) == 1:
            return [self._answer(batch[0])]
        rows = [call.rows for call in batch]
        way = self._way_of(batch[0], sum(rows))
        begin, joins = time.perf_counter(), way.joins
        try:
            found = self._outputs(batch, rows, joins)
        except Exception:  # of one of them, perhaps: each alone tells whose it is
            return [self._answer(call) for call in batch]
        way.ran(joins, (time.perf_counter() - begin) / sum(rows))
        return list(found)

    def _outputs(self, batch: list[Call], rows: list[int], joins: bool) -> list[list[np.ndarray]]:
        runner, inputs = batch[0].runner, [call.inputs for call in batch]
        return split(runner(joined(inputs)), rows) if joins else runner.run_many(inputs)

    def _way_of(self, first: Call, rows: int) -> FasterWay:
        if len(self._ways) >= _MOST_SHAPES:
            self._ways = {}
        return self._ways.setdefault((id(first.runner), first.key, rows.bit_length()), FasterWay())

    def _answer(self, call: Call) -> list[np.ndarray] | ServingError:
        while not call.is_abandoned:
            try:
                return call.runner(call.inputs)
            except CancelledError:
                continue  # meant for a call before this one, unless it is abandoned
            except Exception as error:
                return error_of_call(error)
        return StoppingError("the request was abandoned")


def _fits(call: Call, first: Call) -> bool:
    return call.runner is first.runner and call.key is not None and call.key == first.key


def _shapes(runner: ModelRunner, inputs: Sequence[np.ndarray]) -> Hashable:
    return id(runner), *(array.shape for array in inputs)


def _deliver(batch: list[Call], answers: list[list[np.ndarray] | ServingError]) -> None:
    for call, answer in zip(batch, answers, strict=True):
        if call.answer.done() or call.is_abandoned:
            continue
        if isinstance(answer, ServingError):
            call.answer.set_exception(answer)
        else:
            call.answer.set_result(answer)
