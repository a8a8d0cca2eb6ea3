"""The runtime under ThreadSanitizer and valgrind, and compiled objects under valgrind; skipped where a tool is missing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sweeps import examples

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.targets.cpu.emit import emit_object
from dlc.targets.machine import host_facts

_NATIVE = Path(__file__).parent / "native"
_RUNTIME = Path(__file__).parents[2] / "runtime" / "src"
_COMPILER = shutil.which("g++") or shutil.which("clang++")
_VALGRIND = shutil.which("valgrind")
_APART = ("engine", "native_", "imports", "json", "npy_file", "mapped_file", "code_image", "checksum")
"""How files of the runtime begin that read engines and weights, which nothing calls that runs compiled code; so is `gpu/`."""
# Short blocks: what memcheck makes of a long one of masked loads exhausts valgrind's memory.
_MEMCHECK = [str(_VALGRIND), "--quiet", "--error-exitcode=9", "--leak-check=no", "--vex-guest-max-insns=20"]

pytestmark = pytest.mark.skipif(_COMPILER is None, reason="needs a C++ compiler")
needs_valgrind = pytest.mark.skipif(_VALGRIND is None, reason="needs valgrind")


def _build(folder: Path, main: str, *options: str, objects: Sequence[Path] = ()) -> Path:
    """A program of `main` and what runs compiled code of the runtime."""
    program = folder / main.removesuffix(".cpp")
    sources = [_NATIVE / main, *(file for file in sorted(_RUNTIME.glob("*.cpp")) if not file.name.startswith(_APART)), *objects]
    command = [
        str(_COMPILER),
        "-std=c++17",
        "-g",
        "-pthread",
        f"-I{_RUNTIME}",
        f"-I{_RUNTIME.parent / 'include'}",
        *options,
        *map(str, sources),
        "-o",
        str(program),
        "-lm",
        "-ldl",
    ]
    subprocess.run(command, check=True, timeout=300)
    return program


def _run(command: Sequence[str | Path]) -> str:
    """What a program prints; its errors are those of the test."""
    environment = {"DLC_NUM_THREADS": "3", "TSAN_OPTIONS": "halt_on_error=1"}
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


def _has_thread_sanitizer(folder: Path) -> bool:
    """Whether programs with ThreadSanitizer can be linked here, and run."""
    source = folder / "empty.cpp"
    source.write_text("int main() { return 0; }\n", "utf-8")
    program = folder / "empty"
    build = [str(_COMPILER), "-fsanitize=thread", str(source), "-o", str(program)]
    if subprocess.run(build, capture_output=True, check=False).returncode:
        return False
    return subprocess.run([str(program)], capture_output=True, check=False).returncode == 0


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("program", ["pool_stress.cpp", "doacross_stress.cpp"])
def test_no_race_in_the_runtime(tmp_path: Path, program: str) -> None:
    if not _has_thread_sanitizer(tmp_path):
        pytest.skip("needs ThreadSanitizer")
    _run([_build(tmp_path, program, "-O1", "-fsanitize=thread"), str(examples(100))])


@pytest.mark.slow
@needs_valgrind
@pytest.mark.parametrize("program", ["pool_stress.cpp", "doacross_stress.cpp"])
def test_no_wrong_access_in_the_runtime(tmp_path: Path, program: str) -> None:
    _run([*_MEMCHECK, _build(tmp_path, program, "-O1"), "4"])


def _sample() -> tuple[Graph, list[np.ndarray]]:
    """Kernels with tails everywhere, and the inputs that `run_object.cpp` makes."""
    shapes = [(5, 13), (13, 19), (1, 3, 11, 9), (7, 3, 3, 2), (3, 50), (4, 6, 5)]
    inputs = [(np.arange(np.prod(shape)) % 7 * 0.25).astype(np.float32).reshape(shape) for shape in shapes]
    with Graph() as graph:
        a, b, image, weight, rows, cube = (graph.input(f"x{index}", shape) for index, shape in enumerate(shapes))
        graph.output("product", dl.relu(dl.matmul(a, b)))
        graph.output("conv", dl.conv(image, weight, strides=[2, 1], pads=[1, 0, 1, 1]))
        graph.output("pool", dl.max_pool(image, kernel=[3, 2], strides=[1, 2], pads=[1, 0, 1, 0]))
        graph.output("softmax", dl.softmax(rows))
        graph.output("sum", dl.reduce_sum(cube, axes=[1], keepdims=False))
        graph.output("moved", dl.exp(dl.transpose(cube, perm=[2, 0, 1])))
    return graph, inputs


@pytest.mark.slow
@needs_valgrind
@pytest.mark.skipif(host_facts().arch != "x86_64", reason="the object is for x86")
def test_no_wrong_access_in_compiled_code(tmp_path: Path) -> None:
    """For a processor without AVX-512, which valgrind does not know."""
    graph, inputs = _sample()
    compiled = tmp_path / "model.o"
    compiled.write_bytes(emit_object(dlc.lower(graph.module, target="cpu:haswell")))
    meaning = interpret(graph.module, inputs, {})
    program = _build(tmp_path, "run_object.cpp", "-O1", "-no-pie", objects=[compiled])
    shapes = [f"out:{want.ndim}" for want in meaning] + ["in:" + ",".join(map(str, values.shape)) for values in inputs]
    sums = [float(line) for line in _run([*_MEMCHECK, program, *shapes]).split()]
    np.testing.assert_allclose(sums, [want.astype(np.float64).sum() for want in meaning], rtol=1e-5)
