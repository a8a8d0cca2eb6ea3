"""Native code and engines for AArch64: the compiled code, and programs that run under QEMU."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from native_models import (
    ROOT,
    bert_tiny,
    byte_product,
    checked_run,
    example_model,
    mixed_types,
    residual_block,
    small_attention,
    small_cnn,
    small_lstm,
)

import dlc
from bench.networks import mlp
from dlc.native.compiling import compile_native
from dlc.sources import read_source
from dlc.targets.registry import find_target
from dlc.tools.commands.compile_command import command

_PREFIX = "aarch64-linux-gnu-"
GCC, CXX, OBJCOPY, AR = (shutil.which(_PREFIX + tool) for tool in ("gcc", "g++", "objcopy", "ar"))
QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
CMAKE = shutil.which("cmake")
FLAGS = os.environ.get("DLC_TEST_AARCH64_FLAGS", "").split()
"""What the cross-compiler needs besides, such as --sysroot=FOLDER."""
MODELS = (example_model, small_cnn, mixed_types, residual_block, small_lstm, small_attention, byte_product, bert_tiny)
TOLERANCE = 1e-5
can_run = pytest.mark.skipif(
    not (GCC and CXX and OBJCOPY and AR and QEMU and CMAKE), reason=f"needs {_PREFIX}gcc, {_PREFIX}g++, qemu-aarch64 and CMake"
)


@pytest.mark.parametrize("target", ["cpu:neoverse-n1", "cpu:cortex-a72"])
def test_code_is_of_aarch64(target: str) -> None:
    model = compile_native(read_source(example_model()), dlc.CompileOptions(target=target), "mlp")
    machine = int.from_bytes(model.objects[0][18:20], "little")
    assert (model.arch, machine, len(model.objects)) == ("aarch64", 183, 1)
    assert model.entry.arguments == 1 + 1 + len(model.params)
    assert ("asimddp" in model.features) == (target == "cpu:neoverse-n1")


@pytest.mark.parametrize("target, name", [("cpu:neoverse-n1", "sdot"), ("cpu:neoverse-v1", "usdot"), ("cpu:cortex-a72", "mla")])
def test_bytes_have_dot_products(target: str, name: str) -> None:
    optimized = dlc.optimize(read_source(byte_product()), target=target)
    code = find_target(target).emit(dlc.lower(optimized, target=target), "asm").decode()
    assert f"\t{name}\t" in code


def test_bf16_has_dot_products() -> None:
    target = "cpu:neoverse-v1"
    optimized = dlc.optimize(read_source(mlp.build(widths=(64, 128, 16))), target=target, precision="bf16")
    assert "\tbfdot\t" in find_target(target).emit(dlc.lower(optimized, target=target), "asm").decode()


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where both runtimes are built for AArch64."""
    build = tmp_path_factory.mktemp("aarch64")
    options = {
        "SYSTEM_NAME": "Linux",
        "SYSTEM_PROCESSOR": "aarch64",
        "CXX_COMPILER": CXX,
        "CXX_FLAGS": " ".join(FLAGS),
        "OBJCOPY": OBJCOPY,
        "AR": AR,
    }
    checked_run([CMAKE, "-S", ROOT, "-B", build, *(f"-DCMAKE_{name}={value}" for name, value in options.items())])
    checked_run([CMAKE, "--build", build, "--target", "dlc_native", "dlc_runtime", "--parallel", "2"])
    return build


@pytest.fixture(scope="module")
def environment(build: Path) -> dict[str, str]:
    """CC and DLC_NATIVE_RUNTIME for AArch64."""
    return {"CC": " ".join([str(GCC), *FLAGS]), "DLC_NATIVE_RUNTIME": str(build / "libdlc_native.a")}


@can_run
@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu:neoverse-n1", "cpu:cortex-a72"])
@pytest.mark.parametrize("make", MODELS)
def test_results_under_qemu(
    make: object, target: str, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proto = make()  # type: ignore[operator]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    onnx.save(proto, tmp_path / "model.onnx")
    options = ["--emit=exe", "--target", target, "-o", str(tmp_path / "program")]
    command.main([str(tmp_path / "model.onnx"), *options], standalone_mode=False)
    model = dlc.compile(proto)
    inputs = _inputs(model)
    for name, array in inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
    run_under_qemu([tmp_path / "program", *(f"{name}={name}.npy" for name in inputs)], tmp_path)
    for spec, result in zip(model.outputs, model(inputs), strict=True):
        found = np.load(tmp_path / f"{spec.name.replace('/', '_')}.npy")
        np.testing.assert_allclose(found.astype(float), result.astype(float), rtol=TOLERANCE, atol=TOLERANCE)


@can_run
@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu:neoverse-n1", "cpu:cortex-a72"])
@pytest.mark.parametrize("make", MODELS)
def test_engines_under_qemu(make: object, target: str, build: Path, tmp_path: Path) -> None:
    """An engine for both architectures, loaded by the runtime that is built for this one, chooses its variant."""
    model = dlc.compile(make())  # type: ignore[operator]
    model.save(tmp_path / "m.dlce", targets=["cpu:x86-64-v3", target])
    inputs, words = _inputs(model), list[object]()
    for spec in model.inputs:
        inputs[spec.name].tofile(tmp_path / f"{spec.name}.bin")
        words += [f"{spec.name}.bin", inputs[spec.name].ndim, *inputs[spec.name].shape]
    source = ROOT / "test" / "engines" / "native" / "run_tensors.c"
    options = ["-I", ROOT / "runtime" / "include", "-L", build, "-ldlc_runtime", "-Wl,-rpath-link", build]
    checked_run([GCC, *FLAGS, "-O1", source, "-o", tmp_path / "program", *options])
    run_under_qemu([tmp_path / "program", "m.dlce", "out", *words], tmp_path, build)
    for place, result in enumerate(model(inputs)):
        found = np.fromfile(tmp_path / f"out{place}", result.dtype).reshape(result.shape)
        np.testing.assert_allclose(found.astype(float), result.astype(float), rtol=TOLERANCE, atol=TOLERANCE)


def _inputs(model: dlc.CompiledModel) -> dict[str, np.ndarray]:
    """Random inputs; dynamic dims are 2."""
    random = np.random.default_rng(3)
    inputs = {}
    for spec in model.inputs:
        shape = [dim if isinstance(dim, int) else 2 for dim in spec.shape]
        values = 4 * random.standard_normal(shape)
        values = (128 + 40 * values).clip(0, 255) if spec.dtype == "ui8" else values
        values = values > 0 if spec.dtype == "i64" else values  # a number of a token, a kind, or whether one counts
        inputs[spec.name] = np.asarray(values).astype(spec.numpy_dtype)
    return inputs


def run_under_qemu(program: list[object], folder: Path, libraries: Path | None = None) -> None:
    """Run a program; `libraries` is a folder of more libraries than the system's."""
    more = ["-E", f"LD_LIBRARY_PATH={libraries}:{_folder_of('libstdc++.so.6')}:{_folder_of('libc.so.6')}"] if libraries else []
    command_line = [str(part) for part in (QEMU, "-L", _folder_of("libc.so.6").parent, *more, *program)]
    done = subprocess.run(command_line, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def _folder_of(library: str) -> Path:
    """Where the cross-compiler finds a library."""
    return Path(checked_run([GCC, *FLAGS, f"-print-file-name={library}"]).strip()).resolve().parent
