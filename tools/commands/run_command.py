"""`dlc run`: compile a model, run it, and compare the results with another implementation of it."""

from __future__ import annotations

from typing import Any

import click

from dlc.file_kinds import is_engine
from dlc.serving.number_range import NumberRange
from dlc.tools.commands.engine_run import run_engine, run_kept
from dlc.tools.commands.options import (
    CHECKS,
    MODEL,
    compile_options,
    compile_timeout_option,
    dim_option,
    lenient_option,
    measure_option,
    memory_limit_option,
    precision_option,
    schedule_option,
    shape_option,
    sizes_option,
    specialize_option,
    value_option,
    verify_option,
    winograd_option,
)
from dlc.tools.commands.run_options import RunOptions, engine_cache


@click.command("run")
@MODEL
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy|random", help="An input; random by default. Repeatable.")
@click.option("--output", "outputs", multiple=True, metavar="NAME=FILE.npy", help="Save an output. Repeatable.")
@click.option("--check", type=click.Choice(CHECKS), help="Compare with onnxruntime or with the ops' reference implementations.")
@click.option(
    "--tolerance", type=NumberRange(0), default=1e-4, show_default=True, help="Largest relative difference that passes --check."
)
@dim_option
@click.option("--donate", multiple=True, metavar="NAME", help="An input that the model may write, to give results in. Repeatable.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random inputs.")
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
def command(**given: Any) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) and run it. An engine file is run as it is.

    Inputs whose values decide what code there is (axes, such as) are read before it is compiled; they must be given.
    Exits with status 1 when --check finds a difference above --tolerance.
    """
    options = RunOptions(**given)
    if is_engine(options.model):
        run_engine(options)
        return
    cache = engine_cache(options)
    if cache is not None and run_kept(options, cache):
        return
    from dlc.tools.commands.compiled_run import run_compiled  # brings the compiler

    run_compiled(options, cache)
