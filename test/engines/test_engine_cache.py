"""A model that ran before runs from its engine in the cache, and only while all that the engine was made of is as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import dlc
from dlc.dialects.dl.winograd_matrices import MATRICES
from dlc.engines import engine_cache
from dlc.frontends.onnx.external_files import external_files
from dlc.option_values import TILES
from dlc.runtime.gpu_model import DeviceFacts
from dlc.targets import registry
from dlc.targets.cpu.target import CpuTarget

Run = Callable[..., str]
_LATER = 1_000_000_000_000
"""Nanoseconds, so many that files which a test has just written count as old."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("m.onnx", ...)` gives what `dlc run` says of the model in `tmp_path`, with a cache of the test's own."""
    from dlc.tools.dlc import cli

    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(engine_cache, "_COARSEST_CLOCK_NS", -_LATER)

    def said(name: str, *options: str) -> str:
        from click.testing import CliRunner

        done = CliRunner().invoke(cli, ["run", str(tmp_path / name), *options], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    return said


def _write(file: Path, factor: float = 1.0, external: str = "") -> None:
    weights = (np.arange(512, dtype=np.float32) * factor).reshape(16, 32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, file, save_as_external_data=bool(external), location=external or None, size_threshold=0)


def test_the_second_run_finds_the_engine(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / "m.onnx")
    outputs = []
    for said in ("compiled in", "compiled before, loaded in"):
        assert said in run("m.onnx", f"--output=y={tmp_path}/y.npy", "--dim=n=3", "--seed=4")
        outputs.append(np.load(tmp_path / "y.npy"))
    np.testing.assert_array_equal(*outputs)
    assert "f32[5, 32]" in run("m.onnx", "--dim=n=5", "--num-threads=1", "--repeat=2")
    assert "compiled before" in run("m.onnx", "--num-threads=1")


@pytest.mark.parametrize("option", ["--opt-level=1", "--shape=x=2x16", "--check=reference", "--sizes=n=1..4", "--memory-limit=1G"])
def test_other_options_find_none(run: Run, tmp_path: Path, option: str) -> None:
    _write(tmp_path / "m.onnx")
    run("m.onnx")
    assert "compiled in" in run("m.onnx", option)


def test_another_model_in_its_place_finds_none(run: Run, tmp_path: Path) -> None:
    """Of the same size, with the times of the first one as far as they can be set."""
    _write(tmp_path / "m.onnx")
    before = (tmp_path / "m.onnx").stat()
    run("m.onnx")
    _write(tmp_path / "m.onnx", 2.0)
    os.utime(tmp_path / "m.onnx", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (tmp_path / "m.onnx").stat().st_size == before.st_size
    assert "compiled in" in run("m.onnx")


def test_files_beside_the_model_count(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / "m.onnx", external="w.data")
    assert external_files(tmp_path / "m.onnx") == ["w.data"]
    run("m.onnx")
    assert "compiled before" in run("m.onnx")
    content = (tmp_path / "w.data").read_bytes()
    (tmp_path / "w.data").write_bytes(content[::-1])
    assert "compiled in" in run("m.onnx")
    assert "compiled before" in run("m.onnx")


def test_a_model_that_was_just_written_is_not_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that follows at once could leave the same times."""
    monkeypatch.setattr(engine_cache, "_COARSEST_CLOCK_NS", _LATER)
    _write(tmp_path / "m.onnx")
    run("m.onnx")
    assert "compiled in" in run("m.onnx")
    assert not list((tmp_path / "cache").rglob("*.dlce"))


def test_a_damaged_engine_is_replaced(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / "m.onnx")
    run("m.onnx")
    (engine,) = (tmp_path / "cache").rglob("*.dlce")
    content = bytearray(engine.read_bytes())
    content[-1] ^= 1
    engine.write_bytes(content)
    assert "compiled in" in run("m.onnx")
    assert "compiled before" in run("m.onnx")
    engine.unlink()
    assert "compiled in" in run("m.onnx")


def test_files_that_variables_name_keep_engines_out(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policy.json").write_text("{}")
    monkeypatch.setenv("DLC_POLICY", str(tmp_path / "policy.json"))
    _write(tmp_path / "m.onnx")
    run("m.onnx")
    assert "compiled in" in run("m.onnx")


def test_a_warning_is_told_again(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    model.graph.node[0].attribute.append(helper.make_attribute("colour", 3))
    onnx.save(model, tmp_path / "m.onnx")
    run("m.onnx", "--lenient")
    assert "compiled in" in run("m.onnx", "--lenient")


def test_a_small_bound_keeps_none(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_SIZE", "8K")
    _write(tmp_path / "m.onnx")
    run("m.onnx")
    assert not list((tmp_path / "cache").rglob("*.dlce"))


class _BesideGpu(CpuTarget):
    """A target of somebody else's, whose code is for the GPU beside the processor, too."""

    name = "beside_gpu"
    has_device = True


def test_a_target_says_whether_engines_are_for_one_gpu(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine for another GPU stays, since machines may share the cache."""
    monkeypatch.setattr(registry, "_PLUGINS", {})
    dlc.register_target(_BesideGpu())
    _write(tmp_path / "m.onnx")
    small, large = (DeviceFacts("one", 12040, 9, 0, multiprocessors, 1, 1, 1, 1) for multiprocessors in (4, 8))
    for device, said in ((small, "compiled in"), (small, "compiled before"), (large, "compiled in"), (small, "compiled before")):
        monkeypatch.setattr(engine_cache, "device_facts", lambda device=device: device)
        assert said in run("m.onnx", "--target=beside_gpu")
    run("m.onnx")
    monkeypatch.setattr(engine_cache, "device_facts", lambda: large)
    assert "compiled before" in run("m.onnx"), "code for the processor alone is for any GPU"


def test_no_compiler_is_imported(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / "m.onnx")
    run("m.onnx")
    program = f"""
import sys
sys.argv = ["dlc", "run", {str(tmp_path / "m.onnx")!r}]
from dlc.tools.dlc import main
main()
print(sorted(name for name in sys.modules if name.startswith(("torch_mlir", "mlir", "onnx", "llvmlite", "dlc._mlir"))))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "compiled before" in done.stdout, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_tiles_are_those_that_there_are_matrices_for() -> None:
    assert (0, *MATRICES) == TILES
