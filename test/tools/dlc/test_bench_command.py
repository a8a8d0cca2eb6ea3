"""`dlc bench`: tables, JSON, and engines that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from dlc.measuring import engines
from dlc.measuring.engines import KnownEngine
from dlc.tools.commands import bench_command

QUICK = ("--rounds=3", "--seconds=0")


def test_tables(dlc_command, network: Path) -> None:
    done = dlc_command("bench", network, "--vs=onnxruntime", "--profile", "--dim=n=3", *QUICK)
    assert done.code == 0
    assert done.err == ""
    for word in ("onnxruntime", "p50, ms", "ratio", "kernel_0", "entry", "call from Python", "of peak", "measured peaks"):
        assert word in done.out


def test_json(dlc_command, network: Path) -> None:
    done = dlc_command("bench", network, "--vs=onnxruntime", "--profile", "--json", "--dim=n=3", *QUICK)
    assert done.code == 0
    found = json.loads(done.out)
    assert list(found["engines"]) == ["dlc", "onnxruntime"]
    assert found["threads"] == 1
    rows = found["profile"]["rows"]
    assert sum(row["seconds"] for row in rows) == pytest.approx(found["profile"]["sum"])
    assert sum(row["flops"] or 0 for row in rows) >= 2 * 3 * 16 * 32


def test_a_module(dlc_command, network: Path, tmp_path: Path) -> None:
    dlc_command("compile", network, "--emit=linalg", "-o", tmp_path / "model.mlir")
    done = dlc_command("bench", tmp_path / "model.mlir", "--vs=onnxruntime", "--profile", *QUICK)
    assert done.code == 0
    assert "onnxruntime reads .onnx only" in done.out
    assert "kernel_0" in done.out


def test_engines_that_are_not_there(dlc_command, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = dlc_command("bench", network, "--vs=tvm")
    assert done.code == 1
    assert "there is no engine 'tvm'" in done.err
    monkeypatch.setitem(engines.ENGINES, "openvino", KnownEngine("openvino", "no_such", "openvino", engines.ENGINES["dlc"].load))
    done = dlc_command("bench", network, "--vs=onnxruntime,openvino", "--dim=n=3", *QUICK)
    assert done.code == 0
    assert "not installed" in done.out
    assert "openvino: not installed; pip install openvino" in done.out


def test_a_profile_that_is_interrupted_keeps_the_times(dlc_command, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_command, "profile_of", interrupted)
    done = dlc_command("bench", network, "--vs=onnxruntime", "--profile", "--json", "--dim=n=3", *QUICK)
    assert done.code == 130
    assert list(json.loads(done.out)["engines"]) == ["dlc", "onnxruntime"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threads=0"], "--threads"),
        (["--dim=k=3"], "no dynamic dim 'k'"),
        (["--dim=n=x"], "expects a size"),
        (["--shape=x=5"], "rank"),
    ],
)
def test_bad_options(dlc_command, network: Path, options: list[str], message: str) -> None:
    done = dlc_command("bench", network, *options)
    assert done.code == 1
    assert message in done.err


def test_files_that_are_no_model(dlc_command, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    for name in ("missing.onnx", "model.onnx"):
        done = dlc_command("bench", tmp_path / name)
        assert done.code == 1
        assert "Traceback" not in done.err
        assert name in done.err


def test_options_of_compiling_reach_the_process(dlc_command, network: Path, tmp_path: Path) -> None:
    model = onnx.load(network)
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 31  # it makes 32
    onnx.save(model, tmp_path / "wrong.onnx")
    refused = dlc_command("bench", tmp_path / "wrong.onnx", *QUICK)
    assert refused.code == 1
    assert "declares tensor<nx31xf32>" in refused.err
    lenient = dlc_command("bench", tmp_path / "wrong.onnx", "--lenient", "--dim=n=3", *QUICK)
    assert lenient.code == 0
    assert "warning: " in lenient.err
    late = dlc_command("bench", network, "--compile-timeout=1e-6", "--dim=n=3", *QUICK)
    assert late.code == 1
    assert "not compiled within 1e-06 s" in late.err
