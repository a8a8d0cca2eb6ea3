"""Processes that compile units at the same time. MLIR holds Python's lock while it compiles, so threads would take turns.

Workers are started when there is enough to compile, kept for the next time, and end with this process, however that ends.
They are no forks of this process, and not of `multiprocessing`, so that scripts with threads or without a `__main__` guard work.
"""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlc.errors import DLCError, InvalidInputError
from dlc.lowering.deadline import Deadline
from dlc.targets.cpu.protocol import error_of, receive, send
from dlc.targets.cpu.worker_group import WorkerGroup, WorkerProcess
from dlc.targets.fingerprint import compiler_fingerprint

VARIABLE = "DLC_COMPILE_WORKERS"
_START_SECONDS = 60.0


@dataclass(frozen=True)
class Task:
    """A unit to compile. `bytecode` makes the module's bytecode when a worker takes the task."""

    label: str
    symbol: str
    pipeline: str
    opt_level: int
    bytecode: Callable[[], bytes]


class WorkersUnavailable(Exception):
    """Workers cannot be started here; the caller compiles by itself."""


class WorkerCrash(DLCError):
    """A worker ended while it compiled a unit; `task` is its position, `said` what native code printed at last."""

    def __init__(self, task: int, status: int, said: str) -> None:
        self.task, self.said = task, said
        reason = f"exit status {status}" if status > 0 else signal.Signals(-status).name
        hint = ", perhaps out of memory" if status == -signal.SIGKILL else ""
        super().__init__(f"{reason}{hint}")


@dataclass
class _Worker:
    process: WorkerProcess
    started: float = field(default_factory=time.monotonic)
    ready: bool = False
    pid: int = 0
    """Its process's number, once it is ready."""
    task: int | None = None


class WorkerPool:
    """The workers of this process. Threads may use it at the same time: they take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._unavailable = not can_start()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def __len__(self) -> int:
        return len(self._workers)

    def prepare(self, count: int) -> None:
        """Begin to start workers, so that they are ready when there is work; does not wait."""
        if self._lock.acquire(blocking=False):
            try:
                self._start(count)
            finally:
                self._lock.release()

    def run(
        self, tasks: Sequence[Task], done: Callable[[int, bytes], None], deadline: Deadline | None = None
    ) -> dict[int, DLCError]:
        """Compile all tasks; `done` gets the position and the object of each as it arrives.

        Returns the errors by position; after the first one no new task begins. Raises `WorkersUnavailable` when workers do
        not come up; what `done` has not got then is still to do. At the `deadline`, which raises, busy workers are ended.
        """
        with self._lock:
            try:
                return _Batch(self, tasks, done, deadline).run()
            except BaseException:
                self._end_all()  # workers that are busy would answer the next batch
                raise

    def disable(self) -> None:
        """Start no workers from now on: whoever has tasks does them itself."""
        self._unavailable = True

    def close(self) -> None:
        """End all workers, those too that a thread is waiting for while the interpreter ends."""
        locked = self._lock.acquire(timeout=0.1)
        self._end_all()
        if locked:
            self._lock.release()

    def _start(self, count: int) -> None:
        self._reap()
        if self._unavailable or len(self._workers) >= count:
            return
        try:
            group = WorkerGroup(count - len(self._workers))
        except OSError:
            self._unavailable = True
        else:
            self._workers += map(_Worker, group.workers)

    def _reap(self) -> None:
        """Forget the workers that have ended, as they do after a while without work."""
        for worker in [worker for worker in self._workers if worker.process.poll() is not None]:
            self._drop(worker)

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.end()

    def _end_all(self) -> None:
        for worker in self._workers:
            worker.process.end()
        self._workers.clear()

    def _forget(self) -> None:
        """A forked child must not talk to its parent's workers."""
        for worker in self._workers:
            worker.process.forget()
        self._workers = []
        self._lock = threading.Lock()


class _Batch:
    """Hands tasks to workers as these become free."""

    def __init__(
        self, pool: WorkerPool, tasks: Sequence[Task], done: Callable[[int, bytes], None], deadline: Deadline | None
    ) -> None:
        self._pool, self._tasks, self._done, self._deadline = pool, tasks, done, deadline
        self._pending = list(range(len(tasks) - 1, -1, -1))
        self._errors: dict[int, DLCError] = {}
        self._given_back: set[int] = set()

    def run(self) -> dict[int, DLCError]:
        while self._pending or self._busy():
            self._pool._start(min(worker_limit(), len(self._pending) + len(self._busy())))
            if not self._pool._workers:
                raise WorkersUnavailable
            self._hand_out()
            self._wait()
            if self._errors:
                self._pending.clear()
        return self._errors

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._pool._workers if worker.task is not None]

    def _hand_out(self) -> None:
        for worker in list(self._pool._workers):
            if not worker.ready or worker.task is not None or not self._pending:
                continue
            task = self._tasks[self._pending[-1]]
            record = {"label": task.label, "symbol": task.symbol, "pipeline": task.pipeline, "opt_level": task.opt_level}
            try:
                send(worker.process.stdin, record, task.bytecode())
            except OSError:
                self._pool._drop(worker)  # it ended while it had nothing to do
            else:
                worker.task = self._pending.pop()

    def _wait(self) -> None:
        """Take what workers answer, waiting for one at least."""
        with selectors.DefaultSelector() as selector:
            for worker in self._pool._workers:
                if worker.task is not None or not worker.ready:
                    selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            patience = min(_START_SECONDS, self._deadline.left()) if self._deadline else _START_SECONDS
            for key, _ in selector.select(patience):
                self._take(key.data)
        if self._deadline:
            self._deadline.check(f"while kernels were compiled ({len(self._pending) + len(self._busy())} are left)")
        overdue = [w for w in self._pool._workers if not w.ready and time.monotonic() - w.started > _START_SECONDS]
        for worker in overdue:
            self._pool._unavailable = True
            self._pool._drop(worker)

    def _take(self, worker: _Worker) -> None:
        message = receive(worker.process.stdout)
        if not worker.ready:
            self._welcome(worker, message)
        elif message is None:
            self._bury(worker)
        else:
            self._finish(worker, *message)

    def _welcome(self, worker: _Worker, message: tuple[dict[str, Any], bytes] | None) -> None:
        """A worker that has just started must be of the same compiler."""
        if message is not None and message[0]["fingerprint"] == compiler_fingerprint():
            worker.ready, worker.pid = True, message[0]["process"]
            return
        self._pool._unavailable = True
        self._pool._drop(worker)

    def _finish(self, worker: _Worker, record: dict[str, Any], content: bytes) -> None:
        position, worker.task = worker.task, None
        assert position is not None
        if "error" in record:
            self._errors[position] = error_of(record["error"])
        else:
            self._done(position, content)

    def _bury(self, worker: _Worker) -> None:
        """A worker ended without an answer: for want of work, then the task is still to do, or by a crash."""
        position = worker.task
        assert position is not None
        status = worker.process.wait()
        worker.process.messages.seek(0)
        said = worker.process.messages.read().decode(errors="replace").strip()
        self._pool._drop(worker)
        if status == 0 and position not in self._given_back:
            self._given_back.add(position)
            self._pending.append(position)
        else:
            self._errors[position] = WorkerCrash(position, status, said)


def worker_limit() -> int:
    """How many workers may run: as many as `DLC_COMPILE_WORKERS` says, else one a processor that this process may use.

    With 1, all is compiled in this process. Raises `InvalidInputError` for what is no number from 1 on.
    """
    told = os.environ.get(VARIABLE)
    if not told:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not told.isdecimal() or int(told) < 1:
        raise InvalidInputError(f"{VARIABLE} is {told}; give a whole number from 1 on")
    return int(told)


def can_start() -> bool:
    """Whether `sys.executable` is a Python that runs what it is told: a program with Python inside would start itself again."""
    return "python" in Path(sys.executable or "").name.lower() and not hasattr(sys, "frozen")
