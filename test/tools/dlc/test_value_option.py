"""`--value`: inputs whose values decide what code there is, in every command that compiles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

NEEDED = "axes (input 1) must be known at compile time; it depends on values of input 'axes'"


@pytest.fixture
def reduction(tmp_path: Path) -> Path:
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], name="total", keepdims=0)]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 4]),
        helper.make_tensor_value_info("axes", TensorProto.INT64, ["k"]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    file = tmp_path / "reduction.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), file)
    return file


def test_an_archive_is_no_array(dlc_command, reduction: Path, tmp_path: Path) -> None:
    with (tmp_path / "axes.npy").open("wb") as file:
        np.savez(file, axes=np.array([1]))
    done = dlc_command("import", reduction, "--value", f"axes={tmp_path / 'axes.npy'}")
    assert (done.code, done.out) == (1, "")
    assert "axes.npy: error: not a NumPy .npy file, but an archive of several arrays" in done.err


@pytest.mark.parametrize("command", ["run", "compile", "explain", "bench", "import"])
def test_a_value_that_is_missing(dlc_command, reduction: Path, command: str) -> None:
    done = dlc_command(command, reduction)
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith(
        f"{reduction}: error: 1 node needs inputs that are known at compile time:\n  node 'total' (ReduceSum): "
    )
    assert NEEDED in done.err
    assert "--value axes=..." in done.err


@pytest.mark.parametrize("check", ["onnxruntime", "reference"])
@pytest.mark.parametrize("value, shape", [("0,2", "3"), ("-1", "5, 3"), ("", "")])
def test_run(dlc_command, reduction: Path, check: str, value: str, shape: str) -> None:
    done = dlc_command("run", reduction, f"--value=axes={value}", "--dim=n=5", f"--check={check}")
    assert done.code == 0
    assert f"f32[{shape}]" in done.out


def test_run_takes_inputs(dlc_command, reduction: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "axes.npy", np.array([1, 2]))
    np.save(tmp_path / "x.npy", np.ones((5, 3, 4), np.float32))
    inputs = [f"--input={name}={tmp_path}/{name}.npy" for name in ("x", "axes")]
    done = dlc_command("run", reduction, *inputs, f"--output=y={tmp_path}/y.npy", "--check=onnxruntime")
    assert done.code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.full(5, 12, np.float32))
    assert NEEDED in dlc_command("run", reduction, "--input=axes=random").err


def test_a_file_gives_a_value(dlc_command, reduction: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "axes.npy", np.array([1, 2]))
    done = dlc_command("import", reduction, f"--value=axes={tmp_path}/axes.npy")
    assert "axes = array<i64: 1, 2>" in done.out


def test_compile(dlc_command, reduction: Path, tmp_path: Path) -> None:
    assert dlc_command("compile", reduction, "--value=axes=0", "-o", tmp_path / "r.o").code == 0
    assert (tmp_path / "r.o").stat().st_size > 0
    assert "axes = array<i64: 0>" in dlc_command("compile", reduction, "--value=axes=0", "--emit=dl").out


def test_explain_says_what_it_explains(dlc_command, reduction: Path) -> None:
    done = dlc_command("explain", reduction, "--value=axes=0")
    assert "input 'axes' is read as a value: this is the code for axes = [0]" in done.out
    done = dlc_command("explain", reduction, "--value=axes=0", "--json")
    assert json.loads(done.out)["notes"] == ["input 'axes' is read as a value: this is the code for axes = [0]"]


def test_bench(dlc_command, reduction: Path) -> None:
    done = dlc_command(
        "bench", reduction, "--value=axes=0,2", "--vs=onnxruntime", "--rounds=1", "--seconds=0", "--json", "--profile"
    )
    assert done.code == 0
    engines = json.loads(done.out)["engines"]
    assert list(engines) == ["dlc", "onnxruntime"]
    assert not any("failure" in engine for engine in engines.values())


@pytest.mark.parametrize(
    "value, message",
    [
        ("axes=7", "node 'total' (ReduceSum): c1: axis 7 is out of range for rank 3"),
        ("axs=0", "values: the model has no input 'axs'; did you mean 'axes'?"),
        ("axes=0.5", "values: input 'axes' takes numbers of int64, but 0.5 would lose a value"),
        ("axes=0,", "expects numbers, true, false or a FILE.npy but got ''"),
        ("axes=zero", "expects numbers, true, false or a FILE.npy but got 'zero'"),
        ("axes", "expects NAME=0,2 but got 'axes'"),
        ("axes=none.npy", "none.npy"),
    ],
)
def test_values_that_do_not_fit(dlc_command, reduction: Path, value: str, message: str) -> None:
    done = dlc_command("compile", reduction, f"--value={value}")
    assert done.code != 0
    assert message in done.err
    assert "internal error" not in done.err


def test_values_are_for_onnx_models(dlc_command, tmp_path: Path) -> None:
    file = tmp_path / "m.mlir"
    file.write_text("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n")
    assert "values can be given for ONNX models only" in dlc_command("compile", file, "--value=x=1").err
