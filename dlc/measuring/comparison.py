"""dlc against other engines on one model: times by turns, ratios, and whether the outputs agree."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dlc.errors import DLCError
from dlc.measuring.contenders import Contender, Effort, Times, interleave
from dlc.measuring.engines import BASELINE, ENGINES, NOT_INSTALLED, PEAK, Arrays, LoadOptions
from dlc.measuring.peaks import fma_operations
from dlc.measuring.samples import Summary, median_ratio, summarize

OURS = "dlc"
REFERENCE = "onnxruntime"
"""The engine whose outputs count as right."""
TOLERANCE = {"f32": 1e-4, "bf16": 3e-2}
"""Largest difference of an output, relative to the largest magnitude of that output, by precision."""
_LEAST_REST = 0.2
"""What must be left of a time without the overhead, as a share of that: less is noise."""


@dataclass(frozen=True)
class EngineResult:
    """One engine on one model.

    `ratio` is its time over dlc's, the median over rounds: above 1, dlc is faster. `net_ratio` is the same after each side's
    time for a call that computes nothing was taken off; None where nobody measured that, or too little is left. `error` is the
    largest difference from the reference, relative to the largest magnitude of the output; None without a reference. `failure`
    is why there are no times.
    """

    engine: str
    load_seconds: float = 0.0
    median: float = 0.0
    calls: Summary | None = None
    ratio: float | None = None
    net_ratio: float | None = None
    error: float | None = None
    failure: str = ""


@dataclass(frozen=True)
class Comparison:
    """Results on one model by engine, dlc's first.

    A loop of multiply-adds on one core takes its turn in the same rounds. `peak` is its operations per second, `per_peak` the
    operations that it would do in the time of one call of dlc. A model's operations over `per_peak` are its share of peak.
    """

    model: str
    threads: int
    rounds: int
    results: tuple[EngineResult, ...]
    peak: float | None = None
    per_peak: float | None = None

    def of(self, engine: str) -> EngineResult | None:
        """The result of an engine that ran the model."""
        return next((result for result in self.results if result.engine == engine and not result.failure), None)

    def failure(self, engine: str) -> str:
        """Why an engine did not run the model."""
        return next((result.failure for result in self.results if result.engine == engine), "")

    @property
    def least_ratio(self) -> float | None:
        """The ratio against the fastest of the other engines."""
        others = (result for result in self.results if result.engine not in (OURS, BASELINE))
        return min((result.ratio for result in others if result.ratio is not None), default=None)

    def correct(self, tolerance: float = TOLERANCE["f32"]) -> bool:
        """Whether dlc ran and, where there is a reference, agrees with it."""
        ours = self.of(OURS)
        return ours is not None and (ours.error is None or ours.error <= tolerance)

    def to_json(self) -> dict[str, Any]:
        """Plain data with the keys that docs/benchmarks.md documents; times in seconds."""
        engines = {result.engine: _result_json(result) for result in self.results}
        head = {"model": self.model, "threads": self.threads, "rounds": self.rounds}
        return head | {"peak_flops": self.peak, "flops_at_peak": self.per_peak, "engines": engines}


def failure_cell(failure: str) -> str:
    """What stands in a table in place of the times of an engine that has none."""
    return NOT_INSTALLED if failure.startswith(NOT_INSTALLED) else "fails"


def _result_json(result: EngineResult) -> dict[str, Any]:
    if result.failure:
        return {"failure": result.failure}
    calls = result.calls
    percentiles = {"calls": calls.calls, "p50": calls.p50, "p90": calls.p90, "p99": calls.p99} if calls else {}
    return {
        "load_seconds": result.load_seconds,
        "median": result.median,
        **percentiles,
        "throughput": calls.throughput if calls else None,
        "ratio": result.ratio,
        "net_ratio": result.net_ratio,
        "error": result.error,
    }


@dataclass(frozen=True)
class _Task:
    file: Path
    inputs: Arrays
    options: LoadOptions


class Arena:
    """Processes of engines, kept from model to model. A context manager: its end is theirs.

    `baseline` is another checkout of dlc that takes its turns, too.
    """

    def __init__(self, engines: Sequence[str], threads: int, with_peak: bool = False, baseline: Path | None = None) -> None:
        self._baseline = baseline
        self._with_peak = with_peak
        self._overheads: dict[str, float] = {}
        self._engines = list(dict.fromkeys([OURS, *([BASELINE] if baseline else []), *engines]))
        self._threads = threads
        self._judge = REFERENCE if ENGINES[REFERENCE].installed else None
        self._processes: dict[str, Contender] = {}

    def compare(self, name: str, file: Path, inputs: Arrays, options: LoadOptions, effort: Effort) -> Comparison:
        """Load a model everywhere, check the outputs, and time the engines that can run it."""
        task = _Task(file, inputs, replace(options, threads=self._threads))
        results = {engine: self._load(engine, task) for engine in self._engines}
        outputs = {engine: self._outputs(engine, results) for engine in self._engines}
        expected = self._expected(task, outputs)
        if self._with_peak:
            results[PEAK] = self._load(PEAK, task)
        times = self._times(results, effort)
        results.pop(PEAK, None)
        peak, ours = times.pop(PEAK, None), times.get(OURS)
        found = [self._result(result, times, largest_error(outputs[engine], expected)) for engine, result in results.items()]
        rounds = min((len(entry.rounds) for entry in times.values()), default=0)
        if peak is None or ours is None:
            return Comparison(name, self._threads, rounds, tuple(found))
        rate, done = fma_operations() / peak.median, fma_operations() / median_ratio(peak.rounds, ours.rounds)
        return Comparison(name, self._threads, rounds, tuple(found), rate, done)

    def measure_overheads(self, file: Path, inputs: Arrays, options: LoadOptions, effort: Effort) -> Mapping[str, float]:
        """Seconds of a call of a model that computes nothing, by engine; later comparisons give net ratios."""
        result = self.compare("overhead", file, inputs, options, effort)
        self._overheads = {entry.engine: entry.median for entry in result.results if not entry.failure}
        return self._overheads

    def _result(self, result: EngineResult, times: Mapping[str, Times], error: float | None) -> EngineResult:
        own, ours = times.get(result.engine), times.get(OURS)
        if own is None:
            return result
        found = replace(result, median=own.median, calls=summarize(own.calls), error=error)
        if ours is None:
            return found
        left = [self._net(name, times[name].rounds) for name in (result.engine, OURS)]
        net = median_ratio(*left) if left[0] and left[1] else None
        return replace(found, ratio=median_ratio(own.rounds, ours.rounds), net_ratio=net)

    def _net(self, engine: str, rounds: Sequence[float]) -> list[float]:
        """Times without the overhead of the engine; none where that is not known or nearly all there is."""
        overhead = self._overheads.get(engine)
        found = [seconds - overhead for seconds in rounds] if overhead is not None else []
        return found if overhead is not None and min(found) > _LEAST_REST * overhead else []

    def _times(self, results: dict[str, EngineResult], effort: Effort) -> dict[str, Times]:
        running = [self._processes[engine] for engine, result in results.items() if not result.failure]
        failures: dict[str, DLCError] = {}
        times = interleave(running, effort, failures)
        for engine, error in failures.items():
            results[engine] = EngineResult(engine, failure=self._failed(engine, error))
        return times

    def _load(self, engine: str, task: _Task) -> EngineResult:
        """Only the seconds of loading, or why that failed."""
        if ENGINES[engine].problem:
            return EngineResult(engine, failure=ENGINES[engine].problem)
        if task.file.suffix not in ENGINES[engine].suffixes:
            return EngineResult(engine, failure=f"{engine} reads {', '.join(ENGINES[engine].suffixes)} only")
        try:
            return EngineResult(engine, self._process(engine).load(task.file, task.inputs, task.options))
        except DLCError as error:
            return EngineResult(engine, failure=self._failed(engine, error))

    def _outputs(self, engine: str, results: dict[str, EngineResult]) -> list[np.ndarray]:
        if results[engine].failure:
            return []
        try:
            return self._process(engine).run()
        except DLCError as error:
            results[engine] = EngineResult(engine, failure=self._failed(engine, error))
            return []

    def _failed(self, engine: str, error: DLCError) -> str:
        """The message; whatever state the process is in, the next model gets another one."""
        if engine in self._processes:
            self._processes.pop(engine).close()
        return str(error).removeprefix("error: ")

    def _expected(self, task: _Task, outputs: Mapping[str, list[np.ndarray]]) -> list[np.ndarray]:
        """What the judge says; of what it cannot run (bf16), what another engine does."""
        others = (found for engine, found in outputs.items() if found and engine not in (OURS, BASELINE, PEAK))
        return outputs.get(self._judge or "") or self._judgement(task) or next(others, [])

    def _judgement(self, task: _Task) -> list[np.ndarray]:
        if self._judge is None or task.file.suffix not in ENGINES[self._judge].suffixes:
            return []
        try:
            self._process(self._judge).load(task.file, task.inputs, task.options)
            return self._process(self._judge).run()
        except DLCError as error:
            self._failed(self._judge, error)
            return []

    def _process(self, engine: str) -> Contender:
        if engine not in self._processes:
            is_baseline = engine == BASELINE
            made = Contender(OURS, self._threads, BASELINE, self._baseline) if is_baseline else Contender(engine, self._threads)
            self._processes[engine] = made
        return self._processes[engine]

    def __enter__(self) -> Arena:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            with contextlib.suppress(OSError):
                process.close()


def largest_error(have: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> float | None:
    from dlc.tools.commands.checks import difference

    if not want:
        return None
    if len(have) != len(want):
        return float("inf")
    return max((difference(*pair).relative for pair in zip(have, want, strict=True)), default=0.0)
