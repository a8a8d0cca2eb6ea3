"""Runs tests in processes of their own, each test with a time limit: one that dies or hangs is an outcome, too."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from bench.conformance.outcomes import Outcome, run_case
from bench.conformance.suite import Case
from dlc.option_values import DEFAULT_TARGET

_FORK = multiprocessing.get_context("fork")
"""Workers inherit the tests, which take seconds to load; so the caller must not have loaded an engine."""


def run_cases(cases: Sequence[Case], engine: str, jobs: int, limit: float, target: str = DEFAULT_TARGET) -> Iterator[Outcome]:
    """The outcome of each test, in the order in which they end; dlc compiles them for `target`."""
    waiting = list(enumerate(cases))[::-1]
    workers = [_Worker(cases, engine, target) for _ in range(min(jobs, len(cases)))]
    try:
        while waiting or any(worker.case for worker in workers):
            for worker in workers:
                if worker.case is None and waiting:
                    worker.begin(*waiting.pop())
            wait([worker.pipe for worker in workers if worker.case], timeout=1.0)
            yield from (found for worker in workers if (found := worker.outcome(limit)))
    finally:
        for worker in workers:
            worker.stop()


@dataclass
class _Worker:
    """One process, started anew after a test that it did not outlive."""

    cases: Sequence[Case]
    engine: str
    target: str
    case: Case | None = None
    begun: float = 0.0
    pipe: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def begin(self, index: int, case: Case) -> None:
        """Hand a test to the process."""
        self.case, self.begun = case, time.monotonic()
        self.pipe.send(index)

    def outcome(self, limit: float) -> Outcome | None:
        """The outcome of the test, where it has one by now."""
        case, seconds = self.case, time.monotonic() - self.begun
        if case is None:
            return None
        if self.pipe.poll():
            self.case = None
            try:
                found: Outcome = self.pipe.recv()
                return found
            except (EOFError, ConnectionError):
                self.stop()
                code = self.process.exitcode
                self._start()
                return Outcome(case.name, case.kind, "crash", f"the process ended with status {code}", round(seconds, 3))
        if seconds < limit:
            return None
        self.case = None
        self.stop()
        self._start()
        return Outcome(case.name, case.kind, "timeout", f"no end within {limit:g} s", round(seconds, 3))

    def stop(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.join(0.2 if self.case is None else 0)
        if self.process.is_alive():
            self.process.kill()
        self.process.join()

    def _start(self) -> None:
        self.pipe, theirs = _FORK.Pipe()
        self.process = _FORK.Process(target=_serve, args=(theirs, self.cases, self.engine, self.target), daemon=True)
        self.process.start()
        theirs.close()


def _serve(pipe: Connection, cases: Sequence[Case], engine: str, target: str) -> None:
    """Run tests until the caller is gone. What engines print goes nowhere, and dlc's cache is left alone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.environ.setdefault("DLC_CACHE_DIR", "")
    while True:
        try:
            pipe.send(run_case(cases[pipe.recv()], engine, target))
        except (EOFError, ConnectionError):
            return
