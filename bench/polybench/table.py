"""The table: a row for each kernel as soon as it is measured, means below, and the figures in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.comparing import processor, ratio_text, summary
from bench.polybench.limits import KINDS
from bench.polybench.measuring import ONE_THREAD, TOLERANCE, Job, Threaded, compare
from bench.polybench.suite import Kernel
from bench.rows import write_json
from dlc.measuring.comparison import OURS, Comparison, EngineResult


@dataclass
class Table:
    """Results of `job` beside those of `others` (names of compilers, also of missing ones); `missing` says why."""

    job: Job
    others: Sequence[str]
    json: Path | None
    missing: Sequence[str] = ()
    found: list[Comparison] = field(default_factory=list)

    @property
    def tolerance(self) -> float:
        return TOLERANCE[self.job.dtype]

    @property
    def columns(self) -> dict[str, Callable[[Comparison], str]]:
        return _columns(self.others, self.tolerance, self.job.threads)

    def print_head(self) -> None:
        """What is compared, on standard error, and the titles."""
        print("\n".join([*self._sides, *self.missing]), file=sys.stderr, flush=True)
        columns = self.columns
        print(f"| {' | '.join(columns)} |\n|:---|{'---:|' * (len(columns) - 1)}", flush=True)

    def measure(self, kernel: Kernel) -> None:
        """One row."""
        result = compare(kernel, self.job)
        self._add(result)
        for note in _notes(result, self.tolerance):
            print(note, file=sys.stderr, flush=True)

    def fail(self, kernel: Kernel, error: Exception) -> None:
        """A row without figures."""
        failure = f"{type(error).__name__}: {error}"
        self._add(Comparison(kernel.name, self.job.threads, 0, (EngineResult(OURS, failure=failure),)))

    def finish(self, plot: Path | None) -> int:
        """Print means over PolyBench's kernels and over the nests of deep learning; status 1 when dlc has failed or was wrong."""
        for title, is_ours in (("PolyBench/C 4.2.1", False), ("nests of deep learning", True)):
            part = [result for result in self.found if result.model.startswith("dl-") == is_ours]
            if part and self.others:
                print("\n".join([f"\n{title}:", *list(summary(part, self.others, {}))[1:]]))
        if plot:
            from bench.plots import plot_ratios

            plot_ratios(self.found, self.others, plot)
        return int(not all(result.correct(self.tolerance) for result in self.found))

    def _add(self, result: Comparison) -> None:
        self.found.append(result)
        print(f"| {' | '.join(show(result) for show in self.columns.values())} |", flush=True)
        write_json(self.json, self._document())

    @cached_property
    def _sides(self) -> list[str]:
        """Who is compared, a line each."""
        job = self.job
        one = ", one thread" if job.threads > 1 else ""
        ours = f"{OURS}: {job.pipeline}, {job.threads} thread{'s' if job.threads > 1 else ''}"
        return [ours, *(each.describe() + one * (each.name != "polly") for each in job.compilers)]

    def _document(self) -> dict[str, Any]:
        job = self.job
        head = {"processor": processor(), "threads": job.threads, "size": job.size, "dtype": job.dtype, "sides": self._sides}
        return head | {"tolerance": self.tolerance, "rows": [result.to_json() for result in self.found]}


def _columns(others: Sequence[str], tolerance: float, threads: int) -> dict[str, Callable[[Comparison], str]]:
    """What shows each column, by its title."""
    columns: dict[str, Callable[[Comparison], str]] = {"kernel": lambda result: result.model}
    for name in (OURS, *others):
        columns[f"{name}, ms"] = lambda result, name=name: _cell(result, name, lambda entry: f"{entry.median * 1e3:.4g}")
    for name in others:
        columns[f"{name} / {OURS}"] = lambda result, name=name: _cell(result, name, lambda entry: ratio_text(entry.ratio))
    if threads > 1:
        columns["1 thread / " + str(threads)] = lambda result: _cell(result, ONE_THREAD, lambda entry: ratio_text(entry.ratio))
        columns[f"limits: {', '.join(KINDS)}"] = _limits
    columns["compile, s"] = lambda result: _cell(result, OURS, lambda entry: f"{entry.load_seconds:.2f}")
    columns["relative error"] = lambda result: _cell(result, OURS, lambda entry: _error(entry.error, tolerance))
    return columns


def _limits(result: Comparison) -> str:
    return ", ".join(f"{gain:.2f}" for gain in result.limits.values()) if isinstance(result, Threaded) else ""


def _cell(result: Comparison, name: str, show: Callable[[EngineResult], str]) -> str:
    entry = result.of(name)
    return show(entry) if entry else "fails" if name == OURS else "-"


def _error(error: float | None, tolerance: float) -> str:
    if error is None:
        return ""
    return f"{error:.1e}" if error <= tolerance else f"**{error:.1e}**"


def _notes(result: Comparison, tolerance: float) -> Iterator[str]:
    """Why a side has no time, and whose results are wrong."""
    for entry in result.results:
        if entry.failure:
            yield f"{result.model}: {entry.failure}"
        elif entry.error is not None and entry.error > tolerance:
            yield f"{result.model}: the results of {entry.engine} differ from the meaning's by {entry.error:.1e} relative"
