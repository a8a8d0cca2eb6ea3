"""One kernel compiled by dlc and by C compilers: results checked, then times by turns in this process."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.polybench.compiled import NativeFunction, compile_kernel
from bench.polybench.limits import PRODUCTS, Limit, gains, limits_of
from bench.polybench.meanings.meaning import Arguments
from bench.polybench.native import Compiler, compile_c
from bench.polybench.sizes import CLASSES
from bench.polybench.suite import Kernel, copied, restore
from dlc.errors import DLCError
from dlc.measuring.comparison import OURS, Comparison, EngineResult
from dlc.measuring.contenders import Effort, Times, interleave
from dlc.measuring.engines import BASELINE
from dlc.measuring.samples import median_ratio, summarize
from dlc.runtime.library import load_library

TOLERANCE = {"f64": 1e-12, "f32": 1e-4}
"""Largest difference of an array after a run, relative to the largest magnitude in it."""

ONE_THREAD = f"{OURS} on one thread"
"""The engine that is dlc's code on one thread, where it has several otherwise."""


@dataclass(frozen=True)
class Job:
    """What to do with each kernel. Results are compared with those of NumPy, or with nothing where not `checked`."""

    size: str
    dtype: str
    threads: int
    pipeline: str
    compilers: Sequence[Compiler]
    effort: Effort
    checked: bool = True
    baseline: Path | None = None
    """Another checkout of dlc, whose code takes its turns, too."""


@dataclass(frozen=True)
class Threaded(Comparison):
    """`limits`: what loops of some kinds gain by the threads of the job, see `limits.py`; nothing for one thread."""

    limits: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"limits": dict(self.limits)}


@dataclass(frozen=True)
class _Contender:
    """Compiled code with arguments that all contenders share; they get their initial values before each call, untimed.

    Threads sleep meanwhile; `wake` is work for them that ends just before the call, as in a program that calls one kernel after
    another. Waking takes some 40 us, a layer norm of 1024x1024 215 on two threads.
    """

    engine: str
    threads: int
    call: Callable[[], None]
    arguments: Arguments
    initial: Arguments
    wake: Callable[[], None] | None = None

    def time(self, calls: int, warm: int = 0) -> list[float]:
        """Seconds of each of `calls` calls, after `warm` others."""
        seconds = [self._once() for _ in range(warm + calls)]
        return seconds[warm:]

    def _once(self) -> float:
        restore(self.arguments, self.initial)
        load_library().set_num_threads(self.threads)
        if self.wake is not None:
            self.wake()
        begin = time.perf_counter()
        self.call()
        return time.perf_counter() - begin


def compare(kernel: Kernel, job: Job) -> Threaded:
    """Compile a kernel everywhere, check the results, and time what runs; dlc comes first."""
    codes: dict[str, NativeFunction] = {}
    compiled = functools.partial(compile_kernel, kernel, job.size, job.dtype, job.pipeline)
    results = {OURS: _loaded(OURS, compiled, codes)}
    if job.baseline:
        results[BASELINE] = _loaded(BASELINE, lambda: compiled(job.baseline), codes)
    for each in job.compilers:
        results[each.name] = _loaded(each.name, lambda each=each: compile_c(kernel, job.size, job.dtype, each), codes)
    errors = _errors(kernel, job, codes) if job.checked else {}
    if job.threads > 1 and OURS in codes:
        results[ONE_THREAD] = EngineResult(ONE_THREAD)
        if not _has_same_bits(kernel, job, codes[OURS]):
            reason = f"results on {job.threads} threads have other bits than those on one"
            results[OURS] = replace(results[OURS], failure=reason)
        codes[ONE_THREAD] = codes[OURS]
    limits = _limits(kernel, job) if ONE_THREAD in codes else []
    times = _times(kernel, job, codes, limits)
    found = [_result(replace(result, error=errors.get(name)), times) for name, result in results.items()]
    rounds = min((len(entry.rounds) for entry in times.values()), default=0)
    return Threaded(kernel.name, job.threads, rounds, tuple(found), limits=gains(limits, times))


def _loaded(name: str, load: Callable[[], NativeFunction], codes: dict[str, NativeFunction]) -> EngineResult:
    begin = time.perf_counter()
    try:
        codes[name] = load()
    except DLCError as error:
        return EngineResult(name, failure=str(error).removeprefix("error: "))
    return EngineResult(name, time.perf_counter() - begin)


def _errors(kernel: Kernel, job: Job, codes: Mapping[str, NativeFunction]) -> dict[str, float]:
    """How far the results of each are from the meaning; from those of the first C compiler where the meaning takes too long."""
    initial = kernel.checked_arguments(job.size, job.dtype)
    expected, work = copied(initial), copied(initial)
    is_large = CLASSES.index(job.size) >= CLASSES.index("LARGE")
    judge = next((codes[each.name] for each in job.compilers if each.name in codes), None)
    if kernel.meaning.is_slow and is_large and judge:
        judge.bind(expected)()
    else:
        kernel.expect(expected, job.size)
    errors = {}
    for name, code in codes.items():
        restore(work, initial)
        code.bind(work)()
        errors[name] = kernel.error(work, expected)
    return errors


def _has_same_bits(kernel: Kernel, job: Job, code: NativeFunction) -> bool:
    """Whether the results are the same, bit by bit, on one thread and on those of the job."""
    initial, library = kernel.arguments(job.size, job.dtype), load_library()
    before = library.set_num_threads(1)
    results = []
    try:
        for threads in (1, job.threads):
            library.set_num_threads(threads)
            work = copied(initial)
            code.bind(work)()
            results.append(work)
    finally:
        library.set_num_threads(before)
    pairs = zip(*results, strict=True)
    return all(one.tobytes() == other.tobytes() for one, other in pairs if isinstance(one, np.ndarray))


def _limits(kernel: Kernel, job: Job) -> list[Limit]:
    arrays = [value for value in kernel.arguments(job.size, job.dtype) if isinstance(value, np.ndarray)]
    return limits_of(job.threads, sum(array.nbytes for array in arrays))


def _times(kernel: Kernel, job: Job, codes: Mapping[str, NativeFunction], limits: Sequence[Limit]) -> dict[str, Times]:
    initial = kernel.arguments(job.size, job.dtype)
    work = copied(initial)
    wake = next((limit.call for limit in limits if limit.kind == PRODUCTS), None)
    contenders = [
        _Contender(name, 1 if name == ONE_THREAD else job.threads, code.bind(work), work, initial, wake)
        for name, code in codes.items()
    ]
    turns = [(limit, threads) for limit in limits for threads in (1, job.threads)]
    contenders += [_Contender(limit.engine(threads), threads, limit.call, [], []) for limit, threads in turns]
    library = load_library()
    before = library.set_num_threads(job.threads)
    try:
        return interleave(contenders, job.effort)
    finally:
        library.set_num_threads(before)


def _result(result: EngineResult, times: Mapping[str, Times]) -> EngineResult:
    own, ours = times.get(result.engine), times.get(OURS)
    if own is None:
        return result
    ratio = median_ratio(own.rounds, ours.rounds) if ours else None
    return replace(result, median=own.median, calls=summarize(own.calls), ratio=ratio)
