"""The package dlc_runtime: the same code as dlc's, without the compiler; and what processes share of an engine."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from engine_models import small_input

import dlc
from bench.networks import mlp
from dlc.runtime.library import find_library

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "packaging" / "dlc-runtime"
NUMPY = Path(np.__file__).parents[1]
PROGRAM = """
import sys
import numpy as np
before = set(sys.modules)
import dlc_runtime

model = dlc_runtime.load(sys.argv[1], num_threads=1)
x = np.load(sys.argv[2])
given = np.empty((x.shape[0], 5), np.float32)
assert model.run({"x": x}, [given])[0] is given
assert all(np.array_equal(each[0], given) for each in [model(x), *model.run_many([x, [x]])])
np.save(sys.argv[3], given)
try:
    model(x[:, :2])
except dlc_runtime.InvalidInputError as error:
    assert isinstance(error, dlc_runtime.DLCError) and "dim 1 is 2 instead of 12" in str(error), error
else:
    raise AssertionError("it takes what does not fit")
assert model.inputs[0].name == "x" and dlc_runtime.library_file().is_file()
assert "asyncio" not in sys.modules
import asyncio
assert np.array_equal(asyncio.run(model.run_async([x]))[0], given)
others = {name.split(".")[0] for name in sys.modules} - {name.split(".")[0] for name in before}
found = others & {"dlc", "mlir", "torch_mlir", "onnx", "llvmlite", "islpy", "safetensors", "click", "rich", "google"}
assert not found, found
"""


def run_program(arguments: list[object], packages: Path, *options: str, **environment: str) -> None:
    """`PROGRAM` with `packages` and NumPy's folder as the places of packages."""
    path = os.pathsep.join([str(packages), str(NUMPY)])
    done = subprocess.run(
        [sys.executable, *options, "-c", PROGRAM, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def check(model: dlc.CompiledModel, engine_file: Path, folder: Path, packages: Path, **environment: str) -> None:
    x = small_input()
    np.save(folder / "x.npy", x)
    run_program([engine_file, folder / "x.npy", folder / "y.npy"], packages, "-S", **environment)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), model(x)[0])


def test_the_package_needs_no_compiler(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    """The layout of the wheel, by links: what CMakeLists.txt of packaging/dlc-runtime installs."""
    package = tmp_path / "packages" / "dlc_runtime"
    package.mkdir(parents=True)
    (package / "__init__.py").symlink_to(PACKAGE / "dlc_runtime" / "__init__.py")
    for leaf in ("errors", "dtypes", "memory_limit"):
        (package / f"{leaf}.py").symlink_to(ROOT / "dlc" / f"{leaf}.py")
    (package / "runtime").symlink_to(ROOT / "runtime")
    check(model, engine_file, tmp_path, package.parent, DLC_RUNTIME_LIBRARY=str(find_library()))


def test_versions_are_the_same() -> None:
    for file in (PACKAGE / "pyproject.toml", PACKAGE / "dlc_runtime" / "__init__.py", ROOT / "pyproject.toml"):
        assert f'version = "{dlc.__version__}"' in file.read_text(encoding="utf-8").replace("__version__", "version"), file


@pytest.mark.slow
def test_the_wheel(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", str(PACKAGE), "-w", str(tmp_path)], check=True, timeout=500)
    (wheel,) = tmp_path.glob("dlc_runtime-*-py3-none-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(tmp_path / "packages"), str(wheel)], check=True, timeout=120)
    for file in ("runtime/include/dlc/runtime.h", "serving/command.py"):
        assert (tmp_path / "packages" / "dlc_runtime" / file).is_file()
    check(model, engine_file, tmp_path, tmp_path / "packages")


_HOLDER = textwrap.dedent("""
    import sys
    import numpy as np, dlc
    model = dlc.load(sys.argv[1], num_threads=1)
    model(np.ones((1, 2048), np.float32))
    def mapped(key):
        total, inside = 0, False
        for line in open("/proc/self/smaps"):
            if "-" in line.split(" ")[0]:
                inside = line.rstrip().endswith(".dlce")
            elif inside and line.startswith(key + ":"):
                total += int(line.split()[1])
        return total
    print("ready", flush=True)
    sys.stdin.readline()
    print(mapped("Rss"), mapped("Pss"), mapped("Private_Dirty"), flush=True)
    sys.stdin.readline()
""")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs /proc/self/smaps")
def test_processes_share_weights_and_code(tmp_path: Path) -> None:
    file = tmp_path / "m.dlce"
    dlc.compile(mlp.build(widths=(2048, 2048, 16)), num_threads=1).save(file)
    command = [sys.executable, "-c", _HOLDER, str(file)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        figures = [tuple(map(int, process.stdout.readline().split())) for process in processes]
    finally:
        for process in processes:
            process.communicate("\n", timeout=60)
    for rss, pss, private in figures:
        assert rss > 16_000  # KB: the weights are 16 MB
        assert pss < 0.6 * rss  # each has half of them
        assert private <= 16  # the page of addresses
