"""The queue of one model, and the thread that runs its calls, alone or in batches."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Hashable, Sequence

import numpy as np

from ..errors import CancelledError
from .batching import joined, split
from .call import Call, Runners, fits, kind_of, shapes_of
from .errors import QueueFullError, ServingError, StoppingError, error_of_call
from .faster_way import OF_BATCHES, OF_CALLS, FasterWay, Way
from .metrics import RunFigures
from .options import BatchOptions

_QUICK = 1e-3
"""Seconds that a call may take to run on the event loop's thread, where what arrives meanwhile waits to be read. To hand it over
and back costs a tenth to a third of that on a machine that is busy."""
_DOUBTFUL = _QUICK / 2
"""What a call is believed to take at most, where those before it took less: it may have waited for a processor, or for Python's
lock. The next one like it is believed."""
_MOST_SHAPES = 1024
_NO_WAIT = (0.0,)


class Scheduler:
    """Runs the calls of one model in the order of their arrival, on a thread of its own; quick ones that need not wait at once, on
    the thread of `loop`.

    Answers are delivered on that thread, which all methods but `join` are for.
    """

    def __init__(self, name: str, options: BatchOptions, loop: asyncio.AbstractEventLoop, observer: RunFigures) -> None:
        self._name, self._options, self.loop, self._observer = name, options, loop, observer
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._running: list[Call] = []
        self._gathered: deque[Call] = deque()
        """Calls that run with others of the same turn of the event loop, or of `max_delay`."""
        self._flush: asyncio.Handle | None = None
        """When they do."""
        self._is_closed = False
        self._seconds: dict[Hashable, float] = {}
        """What the last calls of a kind took, or the last batches."""
        self._ways: dict[Hashable, FasterWay] = {}
        """Of calls by their kind, and of batches."""
        self._thread = threading.Thread(target=self._work, name=f"dlc serve {name}", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Requests that wait now."""
        return len(self._waiting) + len(self._gathered)

    def answer_at_once(self, runners: Runners, inputs: list[np.ndarray], is_alone: bool) -> list[np.ndarray] | None:
        """The outputs, where nothing waits or runs and calls with such inputs are quick; else None.

        With `is_alone`, where no other request is here, the call takes all threads, which spin for a moment after it: that keeps
        processors awake for the next one, but takes them from others.
        """
        if self._waiting or self._running:
            return None
        kind = shapes_of(runners, inputs)
        if self._seconds.get(kind, math.inf) >= _QUICK:
            return None
        ways = self._way_of(kind, OF_CALLS)
        way, begin = Way.ALL_THREADS if is_alone else ways.next, time.perf_counter()
        try:
            found = runners.run(way, inputs)
        except CancelledError:  # which was meant for another call
            return None
        except Exception as error:
            raise error_of_call(error) from None
        finally:
            seconds = time.perf_counter() - begin
            self._observer.ran(_NO_WAIT, seconds, 1)
        if not is_alone:
            ways.ran(way, seconds)
        self._took(kind, seconds)
        return found

    def submit(self, call: Call) -> None:
        """Let `call` wait for its turn; `QueueFullError` if too many do already."""
        self._check_room()
        with self._changed:
            self._waiting.append(call)
            self._changed.notify()

    def gather(self, call: Call) -> None:
        """Let `call` run with those that fit and arrive with it, at once where that is quick; `QueueFullError` as of `submit`."""
        if self._waiting or self._running:
            self.submit(call)
            return
        self._check_room()
        self._gathered.append(call)
        is_due = self._options.max_delay <= 0 or self._is_full(self._gathered)
        if self._flush is None and not is_due:
            self._flush = self.loop.call_later(self._options.max_delay, self._run_gathered)
        elif is_due and (self._flush is None or self._options.max_delay > 0):
            self._flush_soon()

    def _flush_soon(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
        self._flush = self.loop.call_soon(self._run_gathered)

    def _check_room(self) -> None:
        if self._is_closed:
            raise StoppingError(f"model '{self._name}' is being stopped")
        if self.waiting >= self._options.max_queue:
            raise QueueFullError(f"{self.waiting} requests wait for model '{self._name}' already; try again later")

    def _run_gathered(self) -> None:
        """Run a batch of what was gathered, if such batches are quick; else leave all to the thread."""
        self._flush = None
        if not self._gathered:
            return
        if self._waiting or self._running:
            self._hand_over(self._gathered)
            return
        batch = self._take(self._gathered)
        if self._seconds.get(kind_of(batch[0], sum(call.rows for call in batch)), math.inf) >= _QUICK:
            self._hand_over(deque([*batch, *self._gathered]))
            return
        _deliver(batch, self._run(batch))
        if self._gathered:
            self._flush_soon()

    def _hand_over(self, calls: deque[Call]) -> None:
        """Leave `calls` to the thread."""
        with self._changed:
            self._waiting.extend(calls)
            self._changed.notify()
        self._gathered.clear()

    def abandon(self, call: Call) -> None:
        """Nobody waits for the answer any more: the call is dropped, or ended if it runs for nobody else."""
        with self._changed:
            call.is_abandoned = True
            for queue in (self._waiting, self._gathered):
                with contextlib.suppress(ValueError):
                    queue.remove(call)
            if call in self._running and all(each.is_abandoned for each in self._running):
                call.runners.cancel()

    def close(self) -> None:
        """Take no more calls; those that wait are still run."""
        with self._changed:
            self._waiting.extend(self._gathered)
            self._gathered.clear()
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
                self.loop.call_soon_threadsafe(_deliver, batch, answers)

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
                    self._running = self._take(self._waiting)
                    return self._running

    def _wait_for_others(self, first: Call) -> None:
        """Until the batch of `first` is full or its time is over."""
        until = first.since + self._options.max_delay
        while first.key is not None and not self._is_closed and not first.is_abandoned:
            left = until - time.perf_counter()
            if left <= 0 or self._is_full(self._waiting):
                return
            self._changed.wait(left)

    def _is_full(self, queue: deque[Call]) -> bool:
        """Whether the batch of the first call in `queue` is."""
        return sum(call.rows for call in queue if fits(call, queue[0])) >= self._options.max_batch

    def _take(self, queue: deque[Call]) -> list[Call]:
        """The oldest call of `queue`, and those that wait there and may run with it."""
        first = queue.popleft()
        batch, rows, left = [first], first.rows, deque[Call]()
        while first.key is not None and queue and rows < self._options.max_batch:
            call = queue.popleft()
            if fits(call, first) and rows + call.rows <= self._options.max_batch:
                batch.append(call)
                rows += call.rows
            else:
                left.append(call)
        queue.extendleft(reversed(left))
        return batch

    def _run(self, batch: list[Call]) -> list[list[np.ndarray] | ServingError]:
        begin = time.perf_counter()
        answers = self._answers(batch)
        seconds = time.perf_counter() - begin
        rows = sum(call.rows for call in batch)
        self._observer.ran([begin - call.since for call in batch], seconds, rows)
        if not any(isinstance(answer, ServingError) for answer in answers):
            self._took(kind_of(batch[0], rows), seconds)
        return answers

    def _took(self, kind: Hashable, seconds: float) -> None:
        if len(self._seconds) >= _MOST_SHAPES:
            self._seconds = {}
        is_doubtful = self._seconds.get(kind, math.inf) < _DOUBTFUL
        self._seconds[kind] = min(seconds, _DOUBTFUL) if is_doubtful else seconds

    def _answers(self, batch: list[Call]) -> list[list[np.ndarray] | ServingError]:
        if len(batch) == 1:
            return [self._answer(batch[0])]
        rows = [call.rows for call in batch]
        way = self._way_of(kind_of(batch[0], sum(rows)), OF_BATCHES)
        chosen, begin = way.next, time.perf_counter()
        try:
            found = self._outputs(batch, rows, chosen)
        except Exception:  # of one of them, perhaps: each alone tells whose it is
            return [self._answer(call) for call in batch]
        way.ran(chosen, (time.perf_counter() - begin) / sum(rows))
        return list(found)

    def _outputs(self, batch: list[Call], rows: list[int], way: Way) -> list[list[np.ndarray]]:
        runners, inputs = batch[0].runners, [call.inputs for call in batch]
        if way is Way.APART:
            return runners.all_threads.run_many(inputs)
        return split(runners.run(way, joined(inputs)), rows)

    def _way_of(self, kind: Hashable, ways: Sequence[Way]) -> FasterWay:
        if (found := self._ways.get(kind)) is not None:
            return found
        if len(self._ways) >= _MOST_SHAPES:
            self._ways = {}
        return self._ways.setdefault(kind, FasterWay(ways))

    def _answer(self, call: Call) -> list[np.ndarray] | ServingError:
        while not call.is_abandoned:
            try:
                return call.runners.all_threads(call.inputs)
            except CancelledError:
                continue  # meant for a call before this one, unless it is abandoned
            except Exception as error:
                return error_of_call(error)
        return StoppingError("the request was abandoned")


def _deliver(batch: list[Call], answers: list[list[np.ndarray] | ServingError]) -> None:
    for call, answer in zip(batch, answers, strict=True):
        if call.answer.done() or call.is_abandoned:
            continue
        if isinstance(answer, ServingError):
            call.answer.set_exception(answer)
        else:
            call.answer.set_result(answer)
