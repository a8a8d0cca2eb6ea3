"""Inputs of a run from files and random numbers, its time, and its outputs in files and as a table."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

import dlc
from dlc.dtypes import show_dtype
from dlc.runtime.callable_model import CallableModel
from dlc.runtime.signature import TensorSpec
from dlc.tools.commands.options import check_output, load_array, require_dims, require_names, split_pair
from dlc.tools.commands.terminal import output_console

if TYPE_CHECKING:
    from dlc.tools.commands.checks import Difference


def read_inputs(given: Sequence[str]) -> dict[str, np.ndarray | None]:
    """Arrays from files by input name, None for a random one."""
    pairs = [split_pair(text, "--input", "NAME=FILE.npy or NAME=random") for text in given]
    return {name: None if value == "random" else load_array(Path(value)) for name, value in pairs}


def output_files(given: Sequence[str]) -> dict[str, Path]:
    """Files to write outputs to, by the outputs' names."""
    pairs = [split_pair(text, "--output", "NAME=FILE.npy") for text in given]
    return {name: check_output(Path(file), "--output") for name, file in pairs}


def input_arrays(
    specs: Sequence[TensorSpec],
    given: Mapping[str, np.ndarray | None],
    sizes: Mapping[str, int],
    least: Mapping[str, int],
    seed: int,
) -> dict[str, np.ndarray]:
    """An array for each input, random where none is given."""
    require_names("--input", "input", given, [spec.name for spec in specs])
    require_dims(sizes, specs)
    arrays = dlc.random_inputs(specs, seed, {**least, **sizes})
    return arrays | {name: array for name, array in given.items() if array is not None}


def timed(model: CallableModel, arrays: dict[str, np.ndarray], repeat: int) -> tuple[list[np.ndarray], float]:
    """Results and the median seconds of a call; the first call warms up when there are several. Donated arrays are copies."""
    donated = [spec.name for spec in model.inputs if spec.donated]
    results = model(arrays | {name: arrays[name].copy() for name in donated}) if repeat > 1 else []
    seconds = []
    for _ in range(repeat):
        given = arrays | {name: arrays[name].copy() for name in donated}
        begin = time.perf_counter()
        results = model(given)
        seconds.append(time.perf_counter() - begin)
    return results, statistics.median(seconds)


def save_results(specs: Sequence[TensorSpec], results: Sequence[np.ndarray], files: Mapping[str, Path]) -> None:
    """Write the outputs that have a file; `InvalidInputError` for one that is no tensor."""
    for spec, array in zip(specs, results, strict=True):
        if spec.name in files:
            from dlc.tools.commands.outputs import write_bytes  # brings the compiler

            if not isinstance(array, np.ndarray):
                raise dlc.InvalidInputError(f"--output {spec.name}: it is a {type(array).__name__}; only tensors are written")
            stream = io.BytesIO()
            np.save(stream, array.astype(str) if array.dtype == object else array)
            write_bytes(stream.getvalue(), files[spec.name])


def show_results(
    specs: Sequence[TensorSpec], results: Sequence[np.ndarray], differences: Sequence[Difference], tolerance: float
) -> None:
    """Print a table of the outputs, with their differences where there are such."""
    table = Table("output", "type", "min", "mean", "max", *(["largest error", "relative", ""] if differences else []))
    for index, (spec, array) in enumerate(zip(specs, results, strict=True)):
        row = [spec.name, _type_of(array), *_statistics(array)]
        if differences:
            found = differences[index]
            row += [f"{found.absolute:.3g}", f"{found.relative:.3g}", "ok" if found.within(tolerance) else "DIFFERS"]
        table.add_row(*row)
    output_console().print(table)


def _type_of(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return f"{len(value)} values" if isinstance(value, list) else type(value).__name__
    return f"{'string' if value.dtype == object else show_dtype(value.dtype)}[{', '.join(map(str, value.shape))}]"


def _statistics(array: Any) -> list[str]:
    if not isinstance(array, np.ndarray) or array.size == 0 or array.dtype == object:
        return ["-", "-", "-"]
    wide = array.astype(np.float64)
    return [f"{value:.6g}" for value in (wide.min(), wide.mean(), wide.max())]
