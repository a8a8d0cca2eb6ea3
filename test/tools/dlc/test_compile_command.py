"""`dlc compile`: every kind of output from every level, and files that stay whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dlc
from dlc.runtime.library import find_library

LEVELS = ("dl", "linalg", "affine", "llvm")
MARKS = {
    "dl": '"dl.matmul"',
    "linalg": "linalg.",
    "affine": "affine.for",
    "llvm": "llvm.func @_mlir_ciface_main_graph",
    "llvmir": "define void @_mlir_ciface_main_graph",
    "asm": "<_mlir_ciface_main_graph>:",
}


@pytest.mark.parametrize("kind", MARKS)
def test_text_of_each_kind(dlc_command, network: Path, tmp_path: Path, kind: str) -> None:
    shown = dlc_command("compile", network, f"--emit={kind}")
    assert shown.code == 0
    assert shown.err == ""
    assert MARKS[kind] in shown.out
    assert shown.out.endswith("\n")
    written = dlc_command("compile", network, f"--emit={kind}", "-o", tmp_path / "out.mlir")
    assert (written.code, written.out) == (0, "")
    assert MARKS[kind] in (tmp_path / "out.mlir").read_text()
    assert (tmp_path / "out.safetensors").exists() == (kind in LEVELS)


@pytest.mark.parametrize("level", LEVELS)
def test_goes_on_from_each_level(dlc_command, network: Path, tmp_path: Path, level: str) -> None:
    file = tmp_path / f"{level}.mlir"
    assert dlc_command("compile", network, f"--emit={level}", "-o", file).code == 0
    x = np.random.default_rng(0).standard_normal((3, 16)).astype(np.float32)
    np.testing.assert_array_equal(dlc.compile(file)(x)[0], dlc.compile(network)(x)[0])
    for later in (*LEVELS[LEVELS.index(level) :], "llvmir", "asm"):
        done = dlc_command("compile", file, f"--emit={later}")
        assert done.code == 0, done.err
        assert MARKS[later] in done.out


def test_no_way_back(dlc_command, network: Path, tmp_path: Path) -> None:
    dlc_command("compile", network, "--emit=affine", "-o", tmp_path / "affine.mlir")
    done = dlc_command("compile", tmp_path / "affine.mlir", "--emit=linalg")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: can't go back from stage 'affine' to stage 'linalg'\n"


def test_an_object_goes_to_the_current_folder(dlc_command, network: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert dlc_command("compile", network).code == 0
    assert (tmp_path / "here" / "network.o").read_bytes().startswith(b"\x7fELF")


def test_a_failure_leaves_the_old_output(dlc_command, tmp_path: Path) -> None:
    (tmp_path / "bad.mlir").write_text("func.func @f( {\n}\n")
    for emit in ("dl", "obj"):
        output = tmp_path / f"out.{emit}"
        output.write_text("old")
        assert dlc_command("compile", tmp_path / "bad.mlir", f"--emit={emit}", "-o", output).code == 1
        assert output.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.mlir", "out.dl", "out.obj"]


@pytest.mark.parametrize("command", ["compile", "import", "explain"])
def test_the_model_is_not_overwritten(dlc_command, network: Path, tmp_path: Path, command: str) -> None:
    before = network.read_bytes()
    link = tmp_path / "link.onnx"
    link.symlink_to(network)
    for order in ((network, "-o", network), ("-o", link, network)):
        done = dlc_command(command, *order)
        assert (done.code, done.out) == (1, "")
        assert "is the model, which would be overwritten; name another file" in done.err
    assert network.read_bytes() == before


def test_an_engine_is_not_overwritten_by_default(dlc_command, network: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert dlc_command("compile", network, "-o", "m.dlce", "--keep=ir").code == 0
    before = (tmp_path / "m.dlce").read_bytes()
    done = dlc_command("compile", "m.dlce", "--emit=engine")
    assert (done.code, "'m.dlce' is the model" in done.err) == (1, True)
    assert (tmp_path / "m.dlce").read_bytes() == before


def test_errors_of_the_code_generator_name_the_place(dlc_command, tmp_path: Path) -> None:
    file = tmp_path / "barrier.mlir"
    file.write_text("llvm.func @f() {\n  gpu.barrier\n  llvm.return\n}")
    done = dlc_command("compile", file, "--emit=llvmir")
    assert done.err == f"{file}:2:3: error: needs ops of llvm, found 'gpu.barrier'; run convert-affine-to-llvm first\n"


def test_outputs_that_cannot_be_written_are_refused_first(dlc_command, network: Path, tmp_path: Path) -> None:
    done = dlc_command("compile", network, "-o", tmp_path / "missing" / "x.o")
    assert done.code == 1
    assert "there is no folder" in done.err
    done = dlc_command("compile", network, "-o", tmp_path)
    assert done.code == 1
    assert "is a folder; name a file" in done.err


def test_links_devices_and_modes_stay(dlc_command, network: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.mlir", tmp_path / "link.mlir"
    real.write_text("old")
    link.symlink_to(real)
    mask = os.umask(0o022)
    try:
        assert dlc_command("compile", network, "--emit=linalg", "-o", link).code == 0
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert "linalg." in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644
    assert dlc_command("compile", network, "--emit=asm", "-o", os.devnull).code == 0
    assert Path(os.devnull).is_char_device()


_CALLER = """
import ctypes, sys
import numpy as np

library = ctypes.CDLL(sys.argv[1])
x, w, b = (np.load(file) for file in sys.argv[2:5])

def descriptor(address, shape):
    strides = [int(np.prod(shape[axis + 1:])) for axis in range(len(shape))]
    words = [address, address, 0, *shape, *strides]
    return (ctypes.c_int64 * len(words))(*words)

result = descriptor(0, (0, 0))
library._mlir_ciface_main_graph(result, *(descriptor(array.ctypes.data, array.shape) for array in (x, w, b)))
y = np.ctypeslib.as_array((ctypes.c_float * (result[3] * result[4])).from_address(result[1])).reshape(result[3], result[4])
np.testing.assert_allclose(y, np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-5)
assert not any("mlir" in name for name in sys.modules)
"""


def test_an_object_runs_without_the_compiler(dlc_command, network: Path, tmp_path: Path) -> None:
    assert dlc_command("compile", network, "-o", tmp_path / "network.o").code == 0
    runtime, shared = find_library(), tmp_path / "network.so"
    command = ["g++", "-shared", "-o", shared, tmp_path / "network.o", runtime, f"-Wl,-rpath,{runtime.parent}"]
    subprocess.run(command, check=True)
    weights = dlc.import_onnx(network).params
    x = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    files = []
    for key, array in {"x": x, "w": weights["w"], "b": weights["b"]}.items():
        np.save(tmp_path / f"{key}.npy", array)
        files.append(tmp_path / f"{key}.npy")
    done = subprocess.run([sys.executable, "-c", _CALLER, shared, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
