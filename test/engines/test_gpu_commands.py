"""Engines for GPUs by the commands, and without the compiler. The GPU is a fake one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from engine_models import FEW, small_input
from fake_cuda import FakeGpu, _library

import dlc
from bench.networks import mlp
from dlc.engines import engine_cache
from dlc.engines.saving import read_manifest
from dlc.runtime.library import find_library
from dlc.tools.dlc import cli

ROOT = Path(__file__).resolve().parents[2]
NUMPY = Path(np.__file__).parents[1]
_LATER = 1_000_000_000_000
"""Nanoseconds, so many that files which a test has just written count as old."""
x = small_input()

PROGRAM = """
import ctypes, sys
import numpy as np
before = set(sys.modules)
import dlc_runtime

driver = ctypes.CDLL(sys.argv[2])
KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p))
places = set()

@KERNEL
def launched(name, sizes, shared, parameters):
    source, target = (ctypes.c_uint64.from_address(parameters[i]).value for i in range(2))
    values = np.frombuffer((ctypes.c_char * 256).from_address(source), np.float32)
    np.frombuffer((ctypes.c_char * 256).from_address(target), np.float32)[:] = np.maximum(values, 0)
    places.add((source, target))
    return 0

driver.fake_on_launch(launched)
model = dlc_runtime.load(sys.argv[1], num_threads=1, verify=True)
x = np.linspace(-3, 3, 64, dtype=np.float32)
assert model.target == "gpu:sm_90" and np.array_equal(model(x)[0], np.maximum(x, 0)) and places
assert np.array_equal(model(model.on_device(x))[0].numpy(), np.maximum(x, 0))
others = {name.split(".")[0] for name in sys.modules} - {name.split(".")[0] for name in before}
found = others & {"dlc", "mlir", "torch_mlir", "onnx", "llvmlite", "islpy", "safetensors", "click", "rich", "google"}
assert not found, found
"""
_RELU = """
func.func @main(%x: tensor<64xf32> {dl.name = "x"}) -> (tensor<64xf32> {dl.name = "y"}) {
  %0 = "dl.relu"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""


@pytest.fixture
def network(tmp_path: Path) -> Path:
    onnx.save(mlp.build(widths=FEW, dynamic_batch=True), tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", x)
    return tmp_path / "m.onnx"


def _said(*arguments: object) -> str:
    done = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_runtime_needs_no_compiler(gpu: FakeGpu, tmp_path: Path) -> None:
    """`test_dlc_runtime.py` has the same for processors."""
    package = tmp_path / "packages" / "dlc_runtime"
    package.mkdir(parents=True)
    (package / "__init__.py").symlink_to(ROOT / "packaging" / "dlc-runtime" / "dlc_runtime" / "__init__.py")
    for leaf in ("errors", "dtypes", "memory_limit"):
        (package / f"{leaf}.py").symlink_to(ROOT / "dlc" / f"{leaf}.py")
    (package / "runtime").symlink_to(ROOT / "runtime")
    dlc.compile(_RELU, "gpu:sm_90", cache=False).save(tmp_path / "m.dlce", targets=["gpu:sm_90"])
    path = os.pathsep.join([str(package.parent), str(NUMPY)])
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, str(tmp_path / "m.dlce"), str(_library())],
        env={**os.environ, "PYTHONPATH": path, "DLC_RUNTIME_LIBRARY": str(find_library()), "DLC_CUDA_LIBRARY": str(_library())},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_compile_and_run(gpu: FakeGpu, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, given = tmp_path / "m.dlce", f"--input=x={tmp_path}/x.npy"
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    _said("compile", network, "-o", file, "--target", "gpu:sm_80,gpu:sm_90,cpu:x86-64")
    assert [each["target"] for each in read_manifest(file.read_bytes())["variants"]] == ["gpu:sm_80", "gpu:sm_90", "cpu:x86-64"]
    assert "loaded code for gpu:sm_90" in _said("run", file, given, f"--output=logits={tmp_path}/y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), dlc.compile(network, "gpu:sm_90", cache=False)(x)[0])
    monkeypatch.setenv("DLC_CUDA_LIBRARY", "no-such-driver.so")
    assert "loaded code for cpu:x86-64" in _said("run", file, given)


def test_the_second_run_finds_the_engine(gpu: FakeGpu, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another GPU gets code of its own."""
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(engine_cache, "_COARSEST_CLOCK_NS", -_LATER)
    run = ["run", network, "--target=gpu", f"--input=x={tmp_path}/x.npy", f"--output=logits={tmp_path}/y.npy"]
    results = []
    for said, multiprocessors in (("compiled in", 4), ("compiled before, loaded in", 4), ("compiled in", 8)):
        gpu.configure(multiprocessors=multiprocessors)
        assert said in _said(*run)
        results.append(np.load(tmp_path / "y.npy"))
    np.testing.assert_array_equal(results[0], results[1])
    gpu.configure()


def test_builds_have_one_hash(network: Path) -> None:
    assert _said("repro-check", network, "--builds", 2, "--target", "gpu:sm_90,cpu:x86-64").startswith("2 builds, 1 hash: ")
