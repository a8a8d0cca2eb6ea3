"""`timeout` ends a compilation at a pass or a kernel, says what was reached, and leaves nothing running."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dlc
from bench.networks.bert import build as bert
from dlc.lowering import deadline
from dlc.lowering.pipeline import Pipeline
from dlc.targets import object_store
from dlc.targets.cpu import build
from dlc.targets.cpu.worker_pool import Task, WorkerPool

KERNEL = "func.func @f(%x: memref<4xf32>) {\n  return\n}\n"
CALLS: dict[str, Callable[[dlc.sources.Source], object]] = {
    "compile": lambda source: dlc.compile(source, timeout=1e-6),
    "lower": lambda source: dlc.lower(source, timeout=1e-6),
    "explain": lambda source: dlc.explain(source, timeout=1e-6),
    "schedules_of": lambda source: dlc.schedules_of(source, timeout=1e-6),
}


class Clock:
    """Time as deadlines read it. It stands still until a step begins whose name starts with `last`: then all time is over."""

    def __init__(self, last: str) -> None:
        self._last, self._now = last, 0.0

    def __call__(self) -> float:
        return self._now

    def progress(self, step: str) -> None:
        if step.startswith(self._last):
            self._now = 1e9


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> dlc.sources.Source:
    """A model of some kernels, none of which this process has in memory."""
    monkeypatch.setattr(object_store, "_MEMORY", object_store._Memory(1 << 24))
    monkeypatch.setattr(build, "worker_limit", lambda: 1)
    return dlc.import_onnx(bert(layers=1, hidden=32, heads=2, vocab=50, seq=8))


def compile_until(source: dlc.sources.Source, last: str, monkeypatch: pytest.MonkeyPatch) -> dlc.CompileTimeoutError:
    """The error of a compilation whose time is over once the step `last` has begun."""
    clock = Clock(last)
    with monkeypatch.context() as patched:
        patched.setattr(deadline, "monotonic", clock)
        patched.setattr(dlc.compiler, "monotonic", clock)
        with pytest.raises(dlc.CompileTimeoutError) as caught:
            dlc.compile(source, timeout=5.0, progress=clock.progress)
    return caught.value


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), 10**400, True, "2"])
def test_no_time_at_all_is_refused(source: dlc.sources.Source, value: Any) -> None:
    with pytest.raises(dlc.InvalidInputError, match=r"timeout is .*; give seconds, more than 0, or None"):
        dlc.compile(source, timeout=value)


@pytest.mark.parametrize("call", CALLS)
def test_each_way_to_compile_ends(source: dlc.sources.Source, call: str) -> None:
    message = r"not compiled within 1e-06 s: ended before '.*'.*; give more time"
    with pytest.raises(dlc.CompileTimeoutError, match=message) as caught:
        CALLS[call](source)
    assert isinstance(caught.value, TimeoutError)


@pytest.mark.parametrize("last", ["dl-canonicalize", "linalg-plan-memory"])
def test_the_message_says_what_was_reached(source: dlc.sources.Source, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = compile_until(source, last, monkeypatch)
    assert error.steps[-1] == last
    assert f"after {len(error.steps)} steps, the last one '{last}'; give more time" in str(error)
    model = dlc.compile(source, timeout=600.0)
    assert all(np.isfinite(array).all() for array in model(dlc.random_inputs(model.inputs)))


def test_passes_of_a_kernel_end_too(source: dlc.sources.Source, monkeypatch: pytest.MonkeyPatch) -> None:
    error = compile_until(source, "generate machine code (0 of ", monkeypatch)
    tail = Pipeline.between("units", "llvm")
    assert f"ended before '{next(iter(tail)).name()}'" in str(error)


def test_kernels_that_are_done_are_not_compiled_again(source: dlc.sources.Source, monkeypatch: pytest.MonkeyPatch) -> None:
    error = compile_until(source, "generate machine code (2 of ", monkeypatch)
    count = int(error.steps[-1].removesuffix(")").split()[-1])
    assert dlc.compile(source).build_report.compiled == count - 2


def test_busy_workers_are_ended() -> None:
    pool = WorkerPool()
    slow = f"builtin.module({','.join(['canonicalize'] * 200_000)})"
    tasks = [Task(f"k{number}", "f", slow, 2, KERNEL.encode) for number in range(2)]
    begin = time.monotonic()
    with pytest.raises(dlc.CompileTimeoutError, match=r"ended while kernels were compiled \(2 are left\)"):
        pool.run(tasks, lambda position, content: None, deadline.Deadline(2.0, "model"))
    assert time.monotonic() - begin < 8.0
    assert len(pool) == 0
