"""Runs the cases of a table: a row as soon as it is measured, a summary, then JSON and a plot where asked for."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence

from bench.cases import Case
from bench.options import Settings
from dlc.measuring.comparison import OURS, TOLERANCE, Arena, Comparison, EngineResult
from dlc.measuring.engines import LoadOptions
from dlc.measuring.samples import geometric_mean


def run_table(cases: Sequence[Case], settings: Settings) -> int:
    """Print the table of the cases that `settings` choose; status 1 when dlc fails or gives a wrong result."""
    others = [engine for engine in settings.engines if engine != OURS]
    tolerance = TOLERANCE[settings.precision]
    found: list[tuple[Case, Comparison]] = []
    cases = settings.chosen(cases)
    counted = any(case.flops for case in cases)
    print(_header(others, counted), flush=True)
    with Arena(others, settings.threads) as arena:
        for case in cases:
            options = LoadOptions(settings.threads, settings.precision, donate=case.donate)
            with case.files() as (file, inputs):
                result = arena.compare(case.name, file, inputs, options, settings.effort)
            found.append((case, result))
            print(_row(case, result, others, tolerance, counted), flush=True)
    results = [result for _, result in found]
    print("\n".join(_summary(results, others, tolerance)))
    if settings.json:
        entries = [result.to_json() | {"flops": case.flops, "bytes": case.moved} for case, result in found]
        document = {"processor": _processor(), "precision": settings.precision, "tolerance": tolerance, "rows": entries}
        settings.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if settings.plot:
        from bench.plots import plot_ratios

        plot_ratios(results, others, settings.plot)
    return int(not all(result.correct(tolerance) for result in results))


def _header(others: Sequence[str], counted: bool) -> str:
    names = ["model", "dlc, ms", *(f"{name}, ms" for name in others), *(f"{name} / dlc" for name in others)]
    names += [*(["GFLOP/s"] if counted else []), "compile, s", "relative error"]
    return f"| {' | '.join(names)} |\n|:---|{'---:|' * (len(names) - 1)}"


def _row(case: Case, result: Comparison, others: Sequence[str], tolerance: float, counted: bool) -> str:
    engines = {entry.engine: entry for entry in result.results}
    ours = engines[OURS]
    cells = [case.name, *(_milliseconds(engines[name]) for name in (OURS, *others))]
    cells += [_ratio(engines[name]) for name in others]
    if counted:
        cells.append(f"{case.flops / ours.median * 1e-9:.1f}" if case.flops and ours.median else "")
    cells.append(f"{ours.load_seconds:.1f}")
    cells.append("" if ours.error is None else f"{ours.error:.1e}" if ours.error <= tolerance else f"**{ours.error:.1e}**")
    notes = [f"  {name}: {entry.failure}" for name, entry in engines.items() if entry.failure]
    wrong = [name for name in others if (error := engines[name].error) is not None and error > tolerance]
    notes += [f"  {name}: its outputs differ from onnxruntime's by {engines[name].error:.1e}" for name in wrong]
    return "\n".join([f"| {' | '.join(cells)} |", *(f"<!--{note} -->" for note in notes)])


def _milliseconds(result: EngineResult) -> str:
    return "fails" if result.failure else f"{result.median * 1e3:.4g}"


def _ratio(result: EngineResult) -> str:
    return "" if result.ratio is None else f"{result.ratio:.2f}" if result.ratio >= 1 else f"**{result.ratio:.2f}**"


def _summary(results: Sequence[Comparison], others: Sequence[str], tolerance: float) -> Iterator[str]:
    """Geometric means, and how often dlc is level or ahead; below the table."""
    yield ""
    for name in others:
        ratios = [entry.ratio for result in results if (entry := result.of(name)) and entry.ratio is not None]
        yield _line(f"against {name}", ratios)
    least = [ratio for result in results if (ratio := result.least_ratio) is not None]
    if len(others) > 1:
        yield _line("against the faster one of each row", least)
    wrong = [result.model for result in results if not result.correct(tolerance)]
    if wrong:
        yield f"dlc fails or is wrong by more than {tolerance:g}: {', '.join(wrong)}"


def _line(what: str, ratios: Sequence[float]) -> str:
    if not ratios:
        return f"{what}: nothing to compare"
    ahead = sum(ratio >= 1 for ratio in ratios)
    return f"{what}: geometric mean {geometric_mean(ratios):.3f}, at least 1.0 on {ahead} of {len(ratios)}"


def _processor() -> str:
    from dlc.targets.cpu.link import host_processor

    return f"{platform.machine()} {host_processor().split(' ')[0]}"
