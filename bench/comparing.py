"""Runs the cases of a table: a row as soon as it is measured, a summary, then JSON and a plot where asked for."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bench import nodes
from bench.cases import Case
from bench.options import Settings
from bench.rows import run_rows, write_json
from dlc.measuring.comparison import OURS, TOLERANCE, Arena, Comparison, EngineResult, failure_cell
from dlc.measuring.engines import BASELINE, LoadOptions
from dlc.measuring.samples import geometric_mean

Show = Callable[[Case, Comparison], str]


def run_table(
    cases: Sequence[Case],
    settings: Settings,
    with_peak: bool = False,
    net: bool = False,
    more: Mapping[str, Show] | None = None,
) -> int:
    """Print the table of the cases that `settings` choose; status 1 when dlc fails or gives a wrong result.

    `with_peak` adds the share of peak, `net` the ratios without the time of a call that computes nothing, `more` columns by title.
    """
    engines = [BASELINE, *settings.engines] if settings.baseline else settings.engines
    table = _Table(settings, [engine for engine in engines if engine != OURS], with_peak, net, more or {})
    chosen = settings.chosen(cases)
    table.print_head()
    with Arena(table.others, settings.threads, with_peak, settings.baseline) as arena:
        if net:
            table.overheads = _overheads(arena, settings)
        status = run_rows(chosen, partial(table.measure, arena), table.fail)
    return table.finish() or status


@dataclass
class _Table:
    """The rows that are finished, printed and written as they come."""

    settings: Settings
    others: list[str]
    with_peak: bool
    net: bool
    more: Mapping[str, Show] = field(default_factory=dict)
    overheads: Mapping[str, float] = field(default_factory=dict)
    found: list[tuple[Case, Comparison]] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, Show]:
        return {**_columns(self.others, self.with_peak, self.net, self.settings), **self.more}

    def print_head(self) -> None:
        columns = self.columns
        print(f"| {' | '.join(columns)} |\n|:---|{'---:|' * (len(columns) - 1)}", flush=True)

    def measure(self, arena: Arena, case: Case) -> None:
        """One row."""
        options = LoadOptions(self.settings.threads, self.settings.precision, donate=case.donate, target=self.settings.target)
        with case.files() as (file, inputs):
            self.add(case, arena.compare(case.name, file, inputs, options, self.settings.effort))

    def fail(self, case: Case, error: Exception) -> None:
        """A row without figures."""
        message = f"{type(error).__name__}: {error}"
        entries = tuple(EngineResult(engine, failure=message) for engine in (OURS, *self.others))
        self.add(case, Comparison(case.name, self.settings.threads, 0, entries), notes=False)

    def add(self, case: Case, result: Comparison, notes: bool = True) -> None:
        """Print a row, and write all rows so far where a file was asked for."""
        self.found.append((case, result))
        print(f"| {' | '.join(show(case, result) for show in self.columns.values())} |", flush=True)
        for note in _notes(result, _tolerance(case, self.settings)) if notes else ():
            print(note, file=sys.stderr, flush=True)
        entries = [result.to_json() | {"flops": case.flops, "bytes": case.moved} for case, result in self.found]
        write_json(self.settings.json, _document(self.settings, self.overheads) | {"rows": entries})

    def finish(self) -> int:
        """Print the summary and draw the plot; status 1 when dlc has failed or was wrong."""
        results = [result for _, result in self.found]
        print("\n".join(summary(results, self.others, self.overheads)))
        if self.settings.plot:
            from bench.plots import plot_ratios

            plot_ratios(results, self.others, self.settings.plot)
        return int(not all(result.correct(_tolerance(case, self.settings)) for case, result in self.found))


def _tolerance(case: Case, settings: Settings) -> float:
    return max(case.tolerance, TOLERANCE[settings.precision])


def _document(settings: Settings, overheads: Mapping[str, float]) -> dict[str, Any]:
    head = {"processor": processor(), "threads": settings.threads, "precision": settings.precision}
    return head | {"tolerance": TOLERANCE[settings.precision], "overhead_seconds": dict(overheads)}


def _overheads(arena: Arena, settings: Settings) -> Mapping[str, float]:
    """Times of an op on one number, or of a product of two for BLAS, which runs nothing else."""
    found: dict[str, float] = {}
    options = LoadOptions(settings.threads, settings.precision)
    build = partial(nodes.matmul, 1, 1, 1) if "openblas" in settings.engines else nodes.identity
    with Case("overhead", build).files() as (file, inputs):
        found |= arena.measure_overheads(file, inputs, options, settings.effort)
    return found


def _columns(others: Sequence[str], with_peak: bool, net: bool, settings: Settings) -> dict[str, Show]:
    """What shows each column, by its title."""
    columns: dict[str, Show] = {"model": lambda case, result: case.name}
    for name in (OURS, *others):
        columns[f"{name}, ms"] = lambda case, result, name=name: _time(result, name)
    for name in others:
        columns[f"{name} / dlc"] = lambda case, result, name=name: ratio_text((entry := result.of(name)) and entry.ratio)
    for name in others if net else ():
        columns[f"{name} / dlc net"] = lambda case, result, name=name: ratio_text((entry := result.of(name)) and entry.net_ratio)
    if with_peak:
        columns["GFLOP/s"] = lambda case, result: _rate(case.flops, result)
        columns["of peak"] = lambda case, result: f"{case.flops / result.per_peak:.0%}" if result.per_peak else ""
    elif net:
        columns["GB/s"] = lambda case, result: _rate(case.moved, result)
    columns["compile, s"] = lambda case, result: f"{ours.load_seconds:.1f}" if (ours := result.of(OURS)) else ""
    columns["relative error"] = lambda case, result: _error(result, _tolerance(case, settings))
    return columns


def _time(result: Comparison, engine: str) -> str:
    entry = result.of(engine)
    return milliseconds(entry) if entry else failure_cell(result.failure(engine))


def _rate(amount: float, result: Comparison) -> str:
    ours = result.of(OURS)
    return f"{amount / ours.median * 1e-9:.1f}" if ours else ""


def _error(result: Comparison, tolerance: float) -> str:
    ours = result.of(OURS)
    if ours is None or ours.error is None:
        return ""
    return f"{ours.error:.1e}" if ours.error <= tolerance else f"**{ours.error:.1e}**"


def _notes(result: Comparison, tolerance: float) -> Iterator[str]:
    """Why a cell is empty, and whose outputs are wrong."""
    for entry in result.results:
        if entry.failure:
            yield f"{result.model}: {entry.failure}"
        elif entry.error is not None and entry.error > tolerance:
            yield f"{result.model}: the outputs of {entry.engine} differ from onnxruntime's by {entry.error:.1e} relative"


def milliseconds(result: EngineResult | None) -> str:
    """The cell of a time."""
    return "fails" if result is None else f"{result.median * 1e3:.4g}"


def ratio_text(ratio: float | None) -> str:
    """The cell of a ratio; below 1 it is bold."""
    return "" if ratio is None else f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**"


def summary(results: Sequence[Comparison], others: Sequence[str], overheads: Mapping[str, float]) -> Iterator[str]:
    """Geometric means, and how often dlc is level or ahead; below the table."""
    yield ""
    for name in others:
        ratios = [entry.ratio for result in results if (entry := result.of(name)) and entry.ratio is not None]
        yield _line(f"against {name}", ratios)
    least = [ratio for result in results if (ratio := result.least_ratio) is not None]
    if len(others) > 1:
        yield _line("against the faster one of each row", least)
    for name in others:
        nets = [entry.net_ratio for result in results if (entry := result.of(name)) and entry.net_ratio is not None]
        if nets:
            yield _line(f"net, against {name}", nets)
    if overheads:
        yield "a call that computes nothing: " + ", ".join(f"{name} {1e6 * value:.1f} us" for name, value in overheads.items())


def _line(what: str, ratios: Sequence[float]) -> str:
    if not ratios:
        return f"{what}: nothing to compare"
    ahead = sum(ratio >= 1 for ratio in ratios)
    return f"{what}: geometric mean {geometric_mean(ratios):.3f}, at least 1.0 on {ahead} of {len(ratios)}"


def processor() -> str:
    """Architecture and name of this processor."""
    from dlc.targets.cpu.link import host_processor

    return f"{platform.machine()} {host_processor().split(' ')[0]}"
