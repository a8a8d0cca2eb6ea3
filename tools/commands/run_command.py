"""`dlc run`: compile a model, run it, and compare the results with another meaning of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import dlc
from dlc.errors import InvalidInputError
from dlc.runtime.signature import TensorSpec
from dlc.sources import read_source
from dlc.tools.commands.checks import CHECKS, Difference, difference, oracle
from dlc.tools.commands.options import MODEL, compile_options, parse_shapes, shape_option, split_pair
from dlc.tools.commands.progress import steps


@click.command("run")
@MODEL
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy|random", help="An input; random by default. Repeatable.")
@click.option("--output", "outputs", multiple=True, metavar="NAME=FILE.npy", help="Save an output. Repeatable.")
@click.option("--check", type=click.Choice(CHECKS), help="Compare with onnxruntime or with the ops' NumPy meanings.")
@click.option("--tolerance", type=float, default=1e-4, show_default=True, help="Largest relative difference that passes --check.")
@click.option("--dim", "dims", multiple=True, metavar="NAME=N", help="Size of a dynamic dim for random inputs. Repeatable.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of random inputs.")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="Timed runs; the median is shown.")
@shape_option
@compile_options
def command(
    model: Path,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    check: str | None,
    tolerance: float,
    dims: tuple[str, ...],
    seed: int,
    repeat: int,
    shapes: tuple[str, ...],
    target: str,
    num_threads: int | None,
    opt_level: int,
) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) and run it.

    Exits with status 1 when --check finds a difference above --tolerance.
    """
    overrides = parse_shapes(shapes)
    source = read_source(model, shapes=overrides)
    expected = oracle(check, model, source, overrides) if check else None
    begin = time.perf_counter()
    with steps(f"compile {model}") as progress:
        compiled = dlc.compile(source, target, num_threads, opt_level=opt_level, progress=progress)
    compile_seconds = time.perf_counter() - begin
    arrays = _read_inputs(compiled.inputs, inputs, dims, seed)
    results, seconds = _timed(compiled, arrays, repeat)
    _save(compiled.outputs, results, outputs)
    differences = [difference(*pair) for pair in zip(results, expected(arrays), strict=True)] if expected else []
    _show(compiled.outputs, results, differences, tolerance)
    click.echo(f"compiled in {compile_seconds:.2f} s, ran in {seconds * 1e3:.3f} ms")
    failed = [spec.name for spec, found in zip(compiled.outputs, differences, strict=bool(differences)) if not found.within(tolerance)]
    if failed:
        click.echo(f"{model}: error: {', '.join(failed)} differs from {check} by more than {tolerance:g} relative", err=True)
        raise click.exceptions.Exit(1)


def _read_inputs(
    specs: Sequence[TensorSpec], given: Sequence[str], dims: Sequence[str], seed: int
) -> dict[str, np.ndarray]:
    sizes = {}
    for text in dims:
        name, size = split_pair(text, "--dim", "NAME=N")
        if not size.isdigit():
            raise click.BadParameter(f"expects a size but got '{size}'", param_hint="--dim")
        sizes[name] = int(size)
    arrays = dlc.random_inputs(specs, seed, sizes)
    for text in given:
        name, value = split_pair(text, "--input", "NAME=FILE.npy or NAME=random")
        if name not in arrays:
            raise InvalidInputError(f"--input: error: the model has no input '{name}' (inputs: {', '.join(arrays)})")
        if value != "random":
            arrays[name] = _load(Path(value))
    return arrays


def _load(path: Path) -> np.ndarray:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise InvalidInputError(f"{path}: error: not a NumPy .npy file: {error}") from None


def _timed(compiled: dlc.CompiledModel, arrays: dict[str, np.ndarray], repeat: int) -> tuple[list[np.ndarray], float]:
    """Results and the median seconds of a call; the first call warms up when there are several."""
    results = compiled(arrays) if repeat > 1 else []
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        results = compiled(arrays)
        seconds.append(time.perf_counter() - begin)
    return results, statistics.median(seconds)


def _save(specs: Sequence[TensorSpec], results: Sequence[np.ndarray], given: Sequence[str]) -> None:
    by_name = {spec.name: array for spec, array in zip(specs, results, strict=True)}
    for text in given:
        name, file = split_pair(text, "--output", "NAME=FILE.npy")
        if name not in by_name:
            raise InvalidInputError(f"--output: error: the model has no output '{name}' (outputs: {', '.join(by_name)})")
        with Path(file).open("wb") as stream:
            np.save(stream, by_name[name])


def _show(specs: Sequence[TensorSpec], results: Sequence[np.ndarray], differences: Sequence[Difference], tolerance: float) -> None:
    table = Table("output", "type", "min", "mean", "max", *(["largest error", "relative", ""] if differences else []))
    for index, (spec, array) in enumerate(zip(specs, results, strict=True)):
        row = [spec.name, f"{spec.dtype}[{', '.join(map(str, array.shape))}]", *_statistics(array)]
        if differences:
            found = differences[index]
            row += [f"{found.absolute:.3g}", f"{found.relative:.3g}", "ok" if found.within(tolerance) else "DIFFERS"]
        table.add_row(*row)
    Console().print(table)


def _statistics(array: np.ndarray) -> list[str]:
    if array.size == 0:
        return ["-", "-", "-"]
    wide = array.astype(np.float64)
    return [f"{value:.6g}" for value in (wide.min(), wide.mean(), wide.max())]
