"""`dlc run`: compile a model, run it, and compare the results with another implementation of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

import dlc
from dlc.accuracy import Precision
from dlc.errors import UnsupportedError, ValuesNeededError
from dlc.file_kinds import is_engine
from dlc.sources import ShapeOverrides, Source, read_source
from dlc.tools.commands.checks import CHECKS, difference, oracle
from dlc.tools.commands.engine_run import run_engine
from dlc.tools.commands.options import (
    MODEL,
    all_shapes,
    compile_options,
    compile_timeout_option,
    dim_option,
    least_sizes,
    lenient_option,
    measure_option,
    memory_limit_option,
    parse_sizes,
    parse_values,
    precision_option,
    require_names,
    schedule_option,
    shape_option,
    sizes_option,
    specialize_option,
    value_option,
    verify_option,
    winograd_option,
)
from dlc.tools.commands.run_results import input_arrays, output_files, read_inputs, save_results, show_results, timed
from dlc.tools.commands.terminal import steps
from dlc.versions.spelling import read_spelled_sizes
from dlc.versions.telling import tell_counters


@click.command("run")
@MODEL
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy|random", help="An input; random by default. Repeatable.")
@click.option("--output", "outputs", multiple=True, metavar="NAME=FILE.npy", help="Save an output. Repeatable.")
@click.option("--check", type=click.Choice(CHECKS), help="Compare with onnxruntime or with the ops' reference implementations.")
@click.option("--tolerance", type=float, default=1e-4, show_default=True, help="Largest relative difference that passes --check.")
@dim_option
@click.option("--donate", multiple=True, metavar="NAME", help="An input that the model may write, to give results in. Repeatable.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of random inputs.")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="Timed runs; the median is shown.")
@shape_option
@sizes_option
@specialize_option
@value_option
@lenient_option
@schedule_option
@verify_option
@measure_option
@winograd_option
@precision_option
@memory_limit_option
@compile_timeout_option
@compile_options
def command(
    model: Path,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    check: str | None,
    tolerance: float,
    dims: tuple[str, ...],
    donate: tuple[str, ...],
    seed: int,
    repeat: int,
    shapes: tuple[str, ...],
    sizes: tuple[str, ...],
    specialize: str | None,
    values: tuple[str, ...],
    lenient: bool,
    schedule: Path | None,
    verify_schedules: bool,
    measure: bool,
    winograd: int | None,
    precision: Precision | None,
    memory_limit: str | None,
    compile_timeout: float | None,
    target: str,
    num_threads: int | None,
    opt_level: int,
) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) and run it. An engine file is run as it is.

    Inputs whose values decide what code there is (axes, such as) are read before it is compiled; they must be given.
    Exits with status 1 when --check finds a difference above --tolerance.
    """
    if is_engine(model):
        run_engine(model, inputs, outputs, parse_sizes(dims), seed, repeat, num_threads, memory_limit)
        return
    overrides, chosen = all_shapes(shapes, sizes), parse_sizes(dims)
    given, saved = read_inputs(inputs), output_files(outputs)
    known = parse_values(values)
    source = _read(model, overrides, lenient, known, given)
    fixed = source.values if source else known
    given = {name: array for name, array in given.items() if name not in fixed}
    expected = oracle(check, model, source, overrides, fixed) if check else None
    several = {name: each for name, each in read_spelled_sizes(sizes).items() if not isinstance(each, int)}
    reading: dict[str, Any] = {"shapes": several} if source else {"shapes": overrides, "lenient": lenient, "values": known}
    begin = time.perf_counter()
    with steps(f"compile {model}") as progress:
        compiled = dlc.compile(
            source or model,
            target,
            num_threads,
            opt_level=opt_level,
            progress=progress,
            donate=donate,
            schedule=schedule,
            measure=measure,
            winograd=winograd,
            precision=precision,
            memory_limit=memory_limit,
            timeout=compile_timeout,
            verify_schedules=verify_schedules,
            specialize=specialize,
            **reading,
        )
    compile_seconds = time.perf_counter() - begin
    if verify_schedules:
        click.echo(_verdicts(compiled), err=True)
    arrays = input_arrays(compiled.inputs, given, chosen, least_sizes(sizes), seed)
    require_names("--output", "output", saved, [spec.name for spec in compiled.outputs])
    results, seconds = timed(compiled, arrays, repeat)
    save_results(compiled.outputs, results, saved)
    differences = [difference(*pair) for pair in zip(results, expected(arrays), strict=True)] if expected else []
    show_results(compiled.outputs, results, differences, tolerance)
    click.echo(f"compiled in {compile_seconds:.2f} s, ran in {seconds * 1e3:.3f} ms")
    if (versions := compiled.build_report.versions) is not None:
        click.echo("\n".join(tell_counters(versions)))
    far = [spec.name for spec, found in zip(compiled.outputs, differences, strict=False) if not found.within(tolerance)]
    if far:
        raise dlc.DLCError(f"{model}: error: {', '.join(far)} differs from {check} by more than {tolerance:g} relative")


def _read(
    model: Path, shapes: ShapeOverrides | None, lenient: bool, values: dict[str, Any], given: Mapping[str, np.ndarray | None]
) -> Source | None:
    """The model, with inputs that must be known taken from those given; None where it cannot be compiled as a whole."""
    while True:
        try:
            return read_source(model, shapes=shapes, lenient=lenient, values=values)
        except ValuesNeededError as needed:
            arrays = {name: array for name, array in given.items() if array is not None}
            if any(name not in arrays for name in (*needed.values, *needed.shapes)):
                raise
            values = values | {name: arrays[name] for name in needed.values}
            shapes = {**(shapes or {}), **{name: arrays[name].shape for name in needed.shapes}}
        except UnsupportedError:
            return None  # compiling tells whether the host can help


def _verdicts(compiled: dlc.CompiledModel) -> str:
    from dlc.verification import summary

    return summary(compiled.verdicts)
