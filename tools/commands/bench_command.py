"""`dlc bench`: how fast a model runs, beside other engines, and where its time goes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table

import dlc
from dlc.accuracy import Precision
from dlc.measuring.comparison import OURS, TOLERANCE, Arena, Comparison, EngineResult, failure_cell
from dlc.measuring.contenders import Effort
from dlc.measuring.engines import Arrays, LoadOptions, find_engines
from dlc.measuring.inputs import input_specs
from dlc.measuring.profiles import PROFILE_SLOT, Profile, profile_of
from dlc.serving.number_range import NumberRange
from dlc.sources import read_source
from dlc.targets.registry import find_target
from dlc.tools.commands.options import (
    MODEL,
    all_shapes,
    compile_timeout_option,
    dim_option,
    least_sizes,
    lenient_option,
    parse_shapes,
    parse_sizes,
    parse_values,
    precision_option,
    require_dims,
    schedule_option,
    shape_option,
    sizes_option,
    specialize_option,
    target_option,
    value_option,
)
from dlc.tools.commands.terminal import output_console, steps
from dlc.tools.supervisor import interruptible
from dlc.versions.spelling import read_spelled_sizes


@click.command("bench")
@MODEL
@click.option(
    "--vs",
    default="",
    metavar="A,B",
    help="Engines to compare with: onnxruntime, openvino, iree; for a GPU onnxruntime-cuda, torch, inductor.",
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads of a call, in all engines.")
@click.option("--profile", is_flag=True, help="Show where the time goes: a row for each kernel.")
@click.option("--rounds", type=click.IntRange(1), default=20, show_default=True, help="Turns of each engine.")
@click.option("--seconds", type=NumberRange(0.0), default=20.0, show_default=True, help="Time for the turns; three at least.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON (documented in docs/benchmarks.md) instead of tables.")
@lenient_option
@precision_option
@compile_timeout_option
@schedule_option
@dim_option
@shape_option
@sizes_option
@specialize_option
@value_option
@target_option
def command(
    model: Path,
    vs: str,
    threads: int,
    profile: bool,
    rounds: int,
    seconds: float,
    as_json: bool,
    lenient: bool,
    precision: Precision | None,
    compile_timeout: float | None,
    schedule: Path | None,
    dims: tuple[str, ...],
    shapes: tuple[str, ...],
    sizes: tuple[str, ...],
    specialize: str | None,
    values: tuple[str, ...],
    target: str,
) -> None:
    """Time MODEL (ONNX, or MLIR at any level) on random inputs.

    Each engine runs in a process of its own, by turns with the others. A ratio is the other engine's time over dlc's: above 1,
    dlc is faster. Outputs are compared with onnxruntime's if it is installed; exits with status 1 where dlc's differ.
    """
    engines = [engine.name for engine in find_engines([name for name in vs.split(",") if name])]
    overrides = all_shapes(shapes, sizes)
    given = parse_sizes(dims)
    source = read_source(model, {}, overrides, lenient, parse_values(values))  # weights need not be there
    specs = input_specs(source)
    require_dims(given, specs)
    inputs = dlc.random_inputs(specs, sizes=least_sizes(sizes) | given) | dict(source.values)
    effort = Effort(rounds, seconds=seconds)
    tolerance = TOLERANCE[precision or "f32"]
    options = LoadOptions(
        threads,
        precision or "f32",
        parse_shapes(shapes) or {},
        lenient=lenient,
        timeout=compile_timeout,
        schedule=None if schedule is None else str(schedule.resolve()),
        values={name: array.tolist() for name, array in source.values.items()},
        sizes=sizes,
        specialize=specialize,
        target=target,
    )
    find_target(target).require_runnable(source.module, target)
    with interruptible(), steps(f"bench {model}"), Arena(engines, threads) as arena:
        found = arena.compare(model.name, model, inputs, options, effort)
    profiled, is_wanted = None, profile and not found.failure(OURS)
    try:
        profile_effort = Effort(4 * rounds, PROFILE_SLOT, seconds)
        with interruptible():
            profiled = _profile(model, inputs, profile_effort, options) if is_wanted else None
    finally:  # an interrupt, or an error of the profile, takes nothing of what was measured before
        _report(found, profiled, tolerance, as_json)
    _require_ours(model, found, tolerance)


def _profile(model: Path, inputs: Arrays, effort: Effort, options: LoadOptions) -> Profile:
    precision: Precision | None = None if options.precision == "f32" else options.precision
    with steps(f"profile {model}"):
        return profile_of(
            model,
            inputs,
            options.threads,
            effort,
            {**options.shapes, **read_spelled_sizes(options.sizes)} or None,
            precision=precision,
            lenient=options.lenient,
            timeout=options.timeout,
            schedule=options.schedule,
            values=options.values,
            target=options.target,
        )


def _report(found: Comparison, profile: Profile | None, tolerance: float, as_json: bool) -> None:
    if as_json:
        document = found.to_json() | ({"profile": profile.to_json()} if profile else {})
        click.echo(json.dumps(document, indent=2))
    else:
        _show(output_console(), found, profile, tolerance)


def _require_ours(model: Path, found: Comparison, tolerance: float) -> None:
    """Whether dlc ran the model, with right outputs."""
    if found.failure(OURS):
        raise dlc.DLCError(f"{model}: error: {found.failure(OURS)}")
    if not found.correct(tolerance):
        ours = found.of(OURS)
        raise dlc.DLCError(f"{model}: error: the outputs differ from onnxruntime's by {ours.error if ours else 0:.2g} relative")


def _show(console: Console, found: Comparison, profile: Profile | None, tolerance: float) -> None:
    columns = _numeric("p50, ms", "p90, ms", "p99, ms", "calls/s", "load, s", "ratio", "relative error")
    table = Table("engine", *columns, title=f"{found.model}, threads: {found.threads}, rounds: {found.rounds}")
    for result in found.results:
        table.add_row(result.engine, *_cells(result, tolerance))
    console.print(table)
    for result in found.results:
        if result.failure:
            console.print(f"{result.engine}: {result.failure}", soft_wrap=True)
    if profile:
        console.print()
        console.print(profile_table(profile))
        console.print("\n".join(profile_summary(profile)), soft_wrap=True)


def _cells(result: EngineResult, tolerance: float) -> Sequence[str]:
    if result.calls is None:
        return [failure_cell(result.failure)]
    times = [f"{value * 1e3:.4g}" for value in (result.calls.p50, result.calls.p90, result.calls.p99)]
    ratio = "" if result.ratio is None or result.engine == OURS else f"{result.ratio:.2f}"
    error = "" if result.error is None else f"{result.error:.1e}" + ("" if result.error <= tolerance else " DIFFERS")
    return [*times, f"{result.calls.throughput:.4g}", f"{result.load_seconds:.2f}", ratio, error]


def _numeric(*names: str) -> list[Column]:
    return [Column(name, justify="right") for name in names]


def profile_table(profile: Profile) -> Table:
    """The rows of a profile, in one call of the model."""
    columns = _numeric("calls", "us", "share", "MFLOP", "MB", "GFLOP/s", "GB/s", "of peak")
    table = Table("kernel", *columns, title="Where the time goes", title_justify="left")
    for row in profile.rows:
        numbers = [f"{row.seconds * 1e6:.2f}", f"{row.share:.1%}", *(_amount(value, 1e-6) for value in (row.flops, row.bytes))]
        rates = [_amount(value and row.seconds and value / row.seconds, 1e-9) for value in (row.flops, row.bytes)]
        table.add_row(row.name, str(row.calls), *numbers, *rates, "" if row.of_peak is None else f"{row.of_peak:.0%}")
    return table


def profile_summary(profile: Profile) -> list[str]:
    """The sum of the rows beside the time without a profile, what measuring took, and the peaks that shares refer to."""
    levels = ", ".join(f"{level.name} {level.rate * 1e-9:.0f} GB/s" for level in profile.peaks.levels)
    return [
        f"sum {profile.sum * 1e3:.4g} ms; a call without a profile takes {profile.total * 1e3:.4g} ms ({profile.bias:+.1%})",
        f"taken off: {profile.charges} readings of a clock, {profile.charge_seconds * 1e9:.1f} ns each",
        f"measured peaks, threads: {profile.peaks.threads}: {profile.peaks.flops * 1e-9:.0f} GFLOP/s, {levels}",
    ]


def _amount(value: float | None, scale: float) -> str:
    return "" if value is None else f"{value * scale:.4g}"
