"""`dlc run` of an engine: one that is given, or one that an earlier run of the model left in the cache. Nothing is compiled."""

from __future__ import annotations

import time

import click

import dlc
from dlc.engines.engine_cache import EngineCache
from dlc.errors import RuntimeLoadError
from dlc.runtime.engine import Engine
from dlc.tools.commands.engine_options import refuse_other_options
from dlc.tools.commands.options import parse_sizes, require_names
from dlc.tools.commands.run_options import RunOptions
from dlc.tools.commands.run_results import input_arrays, output_files, read_inputs, save_results, show_results, timed

_TAKEN = frozenset({"model", "inputs", "outputs", "dims", "seed", "repeat", "num_threads", "memory_limit"})


def run_engine(options: RunOptions) -> None:
    """Load an engine file, run it on inputs from files or random ones, and show its outputs.

    Raises `InvalidInputError` for an option that only compiling knows, and what loading and calling raise.
    """
    refuse_other_options(options.model, _TAKEN)
    begin = time.perf_counter()
    engine = dlc.load(options.model, options.num_threads, memory_limit=options.memory_limit)
    _run(options, engine, f"loaded code for {engine.target} in {_milliseconds(begin)}")


def run_kept(options: RunOptions, cache: EngineCache) -> bool:
    """The same with the engine of the model in `cache`; False where there is none that is whole."""
    begin = time.perf_counter()
    file = cache.find()
    if file is None:
        return False
    try:
        engine = dlc.load(file, options.num_threads, memory_limit=options.memory_limit, verify=True)
    except RuntimeLoadError:
        cache.forget()
        return False
    _run(options, engine, f"compiled before, loaded in {_milliseconds(begin)}")
    return True


def _milliseconds(begin: float) -> str:
    return f"{(time.perf_counter() - begin) * 1e3:.1f} ms"


def _run(options: RunOptions, engine: Engine, loaded: str) -> None:
    given, saved = read_inputs(options.inputs), output_files(options.outputs)
    arrays = input_arrays(engine.inputs, given, parse_sizes(options.dims), {}, options.seed)
    require_names("--output", "output", saved, [spec.name for spec in engine.outputs])
    results, seconds = timed(engine, arrays, options.repeat)
    save_results(engine.outputs, results, saved)
    show_results(engine.outputs, results, [], 0.0)
    click.echo(f"{loaded}, ran in {seconds * 1e3:.3f} ms")
