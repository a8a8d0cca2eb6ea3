"""`dlc coverage`: tables, JSON and the exit status, for models that compile and models that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

MALFORMED = Path(__file__).parent.parent.parent / "frontends" / "onnx" / "malformed"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    nodes = [
        helper.make_node("ReduceSum", ["x", "axes"], ["y"], name="total", keepdims=0),
        helper.make_node("Relu", ["y"], ["z"], name="act"),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("axes", TensorProto.INT64, [1]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
    file = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), file)
    return file


def test_a_network(dlc_command, network: Path) -> None:
    done = dlc_command("coverage", network)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"{network}: compiles\n")
    assert "Nodes" not in done.out, "none needs a word"
    assert "2xf32" not in dlc_command("coverage", network, "--shape=x=2x16").out
    assert "2x16xf32" in dlc_command("coverage", network, "--shape=x=2x16", "--nodes").out


def test_values(dlc_command, model: Path) -> None:
    done = dlc_command("coverage", model)
    assert done.code == 0
    assert "1 specialised: becomes code at the first call" in done.out
    assert "values of axes decide what code there is; give them with --value to look at real ones" in done.out
    assert done.out.endswith(f"{model}: compiles at its first call\n")
    assert dlc_command("coverage", model, "--value=axes=1").out.endswith(f"{model}: compiles\n")


def test_a_refused_model(dlc_command, model: Path) -> None:
    done = dlc_command("coverage", model, "--value=axes=7")
    assert (done.code, done.err) == (1, f"{model}: error: refused for 1 nodes and 0 other reasons, as listed\n")
    assert "axis 7 is out of range for rank 2" in done.out
    assert "1 unchecked: cannot be looked at before what it depends on is known" in done.out
    assert done.out.endswith(f"{model}: refused\n")


def test_a_rule_that_is_broken(dlc_command) -> None:
    done = dlc_command("coverage", MALFORMED / "too_many_inputs.onnx")
    assert done.code == 1
    assert "invalid" in done.out
    assert "has 3 inputs" in done.out


def test_what_is_no_model(dlc_command, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"no model")
    done = dlc_command("coverage", tmp_path / "m.onnx")
    assert done.code == 1
    assert f"{tmp_path}/m.onnx: error: not an ONNX model" in done.err
    assert dlc_command("coverage", tmp_path / "none.onnx").code == 1


def test_json(dlc_command, model: Path, tmp_path: Path) -> None:
    done = dlc_command("coverage", model, "--json")
    found = json.loads(done.out)
    assert (done.code, found["verdict"], found["values"]) == (0, "compiles at its first call", ["axes"])
    assert [node["state"] for node in found["nodes"]] == ["specialised", "native"]
    done = dlc_command("coverage", model, "--json", "--value=axes=7", "-o", tmp_path / "c.json")
    assert (done.code, done.out) == (1, "")
    assert json.loads((tmp_path / "c.json").read_text())["verdict"] == "refused"


@pytest.mark.parametrize(
    "option, message",
    [
        ("-oc.txt", "-o goes with --json"),
        ("--target=none", "unknown target 'none'"),
        ("--value=axs=1", "values: the model has no input 'axs'; did you mean 'axes'?"),
        ("--shape=x=2", "shapes: input 'x' has rank 2 but was given rank 1"),
    ],
)
def test_wrong_options(dlc_command, model: Path, option: str, message: str) -> None:
    done = dlc_command("coverage", model, option)
    assert done.code != 0
    assert message in done.err
