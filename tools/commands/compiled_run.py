"""`dlc run` of a model: it is compiled, run, and its results compared with another implementation of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

import dlc
from dlc.engines.engine_cache import EngineCache
from dlc.errors import UnsupportedError, ValuesNeededError
from dlc.sources import ShapeOverrides, Source, read_source
from dlc.tools.commands.checks import difference, oracle
from dlc.tools.commands.options import all_shapes, least_sizes, parse_sizes, parse_values, require_names
from dlc.tools.commands.run_options import RunOptions
from dlc.tools.commands.run_results import input_arrays, output_files, read_inputs, save_results, show_results, timed
from dlc.tools.commands.terminal import steps
from dlc.versions.spelling import read_spelled_sizes
from dlc.versions.telling import tell_counters


def run_compiled(options: RunOptions, cache: EngineCache | None) -> None:
    """Compile the model, run it, show its outputs, and keep it in `cache`, where there is a place for it.

    Raises `DLCError` when results differ by more than the tolerance, and what compiling and calling raise.
    """
    overrides, chosen = all_shapes(options.shapes, options.sizes), parse_sizes(options.dims)
    given, saved = read_inputs(options.inputs), output_files(options.outputs)
    known = parse_values(options.values)
    with _warnings_counted() as told:
        source = _read(options.model, overrides, options.lenient, known, given)
        fixed = source.values if source else known
        given = {name: array for name, array in given.items() if name not in fixed}
        expected = oracle(options.check, options.model, source, overrides, fixed) if options.check else None
        begin = time.perf_counter()
        compiled = _compile(options, source, overrides, known)
        compile_seconds = time.perf_counter() - begin
    if options.verify_schedules:
        click.echo(_verdicts(compiled), err=True)
    arrays = input_arrays(compiled.inputs, given, chosen, least_sizes(options.sizes), options.seed)
    require_names("--output", "output", saved, [spec.name for spec in compiled.outputs])
    results, seconds = timed(compiled, arrays, options.repeat)
    save_results(compiled.outputs, results, saved)
    differences = [difference(*pair) for pair in zip(results, expected(arrays), strict=True)] if expected else []
    show_results(compiled.outputs, results, differences, options.tolerance)
    click.echo(f"compiled in {compile_seconds:.2f} s, ran in {seconds * 1e3:.3f} ms")
    if (versions := compiled.build_report.versions) is not None:
        click.echo("\n".join(tell_counters(versions)))
    far = [spec.name for spec, found in zip(compiled.outputs, differences, strict=False) if not found.within(options.tolerance)]
    if far:
        what = f"{', '.join(far)} differs from {options.check} by more than {options.tolerance:g} relative"
        raise dlc.DLCError(f"{options.model}: error: {what}")
    if cache is not None and source is not None and not fixed and not told and type(compiled) is dlc.CompiledModel:
        cache.keep(compiled)


def _compile(
    options: RunOptions, source: Source | None, overrides: ShapeOverrides | None, known: dict[str, Any]
) -> dlc.CompiledModel:
    several = {name: each for name, each in read_spelled_sizes(options.sizes).items() if not isinstance(each, int)}
    alone: dict[str, Any] = {"shapes": overrides, "lenient": options.lenient, "values": known}
    with steps(f"compile {options.model}") as progress:
        return dlc.compile(
            source or options.model,
            options.target,
            options.num_threads,
            opt_level=options.opt_level,
            progress=progress,
            donate=options.donate,
            schedule=options.schedule,
            measure=options.measure,
            winograd=options.winograd,
            precision=options.precision,
            memory_limit=options.memory_limit,
            timeout=options.compile_timeout,
            verify_schedules=options.verify_schedules,
            specialize=options.specialize,
            **({"shapes": several} if source else alone),
        )


@contextmanager
def _warnings_counted() -> Iterator[list[str]]:
    """The warnings that are shown inside, which a run without the compiler would not show."""
    show, told = warnings.showwarning, list[str]()

    def count(message: Warning | str, *others: Any, **named: Any) -> None:
        told.append(str(message))
        show(message, *others, **named)

    warnings.showwarning = count
    try:
        yield told
    finally:
        warnings.showwarning = show


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
