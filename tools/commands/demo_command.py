"""`dlc demo`: the whole way on a real network that the onnx package ships, with nothing to download."""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np
import onnx
from rich.console import Console
from rich.table import Table

import dlc
from dlc.dialects.dl.interpreter import interpret
from dlc.errors import DLCError
from dlc.lowering.pipelines import STAGES
from dlc.sources import Source
from dlc.tools.commands.checks import difference
from dlc.tools.commands.terminal import output_console

_LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
_TOLERANCE = 1e-4


def networks() -> list[str]:
    """Names of the networks that the onnx package ships."""
    return sorted(file.stem.removeprefix("light_") for file in _LIGHT.glob("light_*.onnx"))


@click.command("demo")
@click.argument("network", default="squeezenet")
@click.option("--num-threads", type=int, default=None, help="Threads of one call (default: all processors).")
def command(network: str, num_threads: int | None) -> None:
    """Compile and run a light_* NETWORK of the onnx package and show what happened.

    First on the package's own input and weights against the package's expected output, then with seeded random weights
    against the reference implementations of its ops. Exits with status 1 when either differs.
    """
    console = output_console(markup=True)
    path = _LIGHT / f"light_{network.removeprefix('light_')}.onnx"
    if not path.exists():
        raise DLCError(f"error: no network '{network}' in the onnx package (networks: {', '.join(networks())})")
    console.print(f"[bold]{path.name}[/] from the onnx package {onnx.__version__}")
    source = _import(console, path)
    _show_levels(console, source)
    begin = time.perf_counter()
    compiled = dlc.compile(source, num_threads=num_threads)
    console.print(f"compiled in {time.perf_counter() - begin:.2f} s")
    inputs = package_input(compiled)
    agrees = _run(console, compiled, inputs, expected_output(path), "the package's expected output")
    seeded = seeded_weights(source)
    want = interpret(source.module, inputs, seeded)[0]
    agrees &= _run(console, compiled.with_params(seeded), inputs, want, "NumPy, with seeded random weights")
    if not agrees:
        raise click.exceptions.Exit(1)


def package_input(compiled: dlc.CompiledModel) -> list[np.ndarray]:
    """The input on which the package's expected outputs were made: a ramp from 0 to 1 over the whole array."""
    shape = [dim if isinstance(dim, int) else 1 for dim in compiled.inputs[0].shape]
    size = int(np.prod(shape))
    return [(np.arange(size).reshape(shape) / size).astype(np.float32)]


def expected_output(path: Path) -> np.ndarray:
    """The package's expected output of a network."""
    return onnx.numpy_helper.to_array(onnx.load_tensor(str(path.with_name(f"{path.stem}_output_0.pb"))))


def seeded_weights(source: Source, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of the same shapes that keep activations in range: He-scaled where there is a fan-in, else near one."""
    generator = np.random.default_rng(seed)
    found = {}
    for key, array in source.params.items():
        if array.dtype.kind != "f":
            found[key] = array
        elif array.ndim > 1 and array[0].size > 1:
            found[key] = (generator.standard_normal(array.shape) * np.sqrt(2 / array[0].size)).astype(array.dtype)
        else:
            found[key] = generator.uniform(0.5, 1.0, array.shape).astype(array.dtype)
    return found


def _import(console: Console, path: Path) -> Source:
    begin = time.perf_counter()
    source = dlc.import_onnx(str(path))
    weights = sum(array.nbytes for array in source.params.values())
    console.print(f"imported in {time.perf_counter() - begin:.2f} s: {len(source.params)} weights, {weights / 1e6:.1f} MB")
    return source


def _show_levels(console: Console, source: Source) -> None:
    table = Table("level", "functions", "ops", "most frequent", "seconds")
    module = source.module
    stages = STAGES
    for index, stage in enumerate(stages):
        begin = time.perf_counter()
        if index:
            module = dlc.lower(module, stage, stages[index - 1])
        functions, counts = dlc.count_ops(module)
        top = ", ".join(f"{name} x{count}" for name, count in counts.most_common(4))
        table.add_row(stage, str(functions), str(counts.total()), top, f"{time.perf_counter() - begin:.2f}")
    console.print(table)


def _run(console: Console, compiled: dlc.CompiledModel, inputs: list[np.ndarray], want: np.ndarray, what: str) -> bool:
    compiled(*inputs)
    begin = time.perf_counter()
    have = compiled(*inputs)[0]
    seconds = time.perf_counter() - begin
    scores = have.reshape(-1)
    top = ", ".join(f"{index} ({scores[index]:.4g})" for index in np.argsort(-scores, kind="stable")[:5])
    found = difference(have, want)
    ok = found.within(_TOLERANCE)
    console.print(f"\n[bold]{what}[/]\n  ran in {seconds * 1e3:.2f} ms\n  top-5: {top}")
    verdict = "[green]ok[/]" if ok else "[red]DIFFERS[/]"
    console.print(f"  largest error {found.absolute:.3g}, relative to the largest output {found.relative:.3g}: {verdict}")
    return ok
