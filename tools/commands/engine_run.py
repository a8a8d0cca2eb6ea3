"""`dlc run` of an engine file: nothing is compiled, so that options of the compiler are refused."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

import dlc
from dlc.tools.commands.options import require_names
from dlc.tools.commands.run_results import input_arrays, output_files, read_inputs, save_results, show_results, timed

_TAKEN = frozenset({"model", "inputs", "outputs", "dims", "seed", "repeat", "num_threads", "memory_limit"})


def run_engine(
    file: Path,
    inputs: Sequence[str],
    outputs: Sequence[str],
    sizes: Mapping[str, int],
    seed: int,
    repeat: int,
    num_threads: int | None,
    memory_limit: str | None,
) -> None:
    """Load an engine, run it on inputs from files or random ones, and show its outputs.

    Raises `InvalidInputError` for an option that only compiling knows, and what loading and calling raise.
    """
    _refuse_options_of_compiling(file)
    given, saved = read_inputs(inputs), output_files(outputs)
    begin = time.perf_counter()
    engine = dlc.load(file, num_threads, memory_limit=memory_limit)
    load_seconds = time.perf_counter() - begin
    arrays = input_arrays(engine.inputs, given, sizes, {}, seed)
    require_names("--output", "output", saved, [spec.name for spec in engine.outputs])
    results, seconds = timed(engine, arrays, repeat)
    save_results(engine.outputs, results, saved)
    show_results(engine.outputs, results, [], 0.0)
    click.echo(f"loaded code for {engine.target} in {load_seconds * 1e3:.1f} ms, ran in {seconds * 1e3:.3f} ms")


def _refuse_options_of_compiling(file: Path) -> None:
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if name not in _TAKEN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            remedy = "give it to the dlc compile that writes the engine, or run the model itself"
            raise dlc.InvalidInputError(f"{file}: error: an engine is compiled already, and takes no {option.opts[0]}; {remedy}")
