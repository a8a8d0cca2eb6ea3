"""`dlc.coverage`: each node has its state, and nothing is refused later for a reason that has no line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import dlc
from bench.networks.bert import build as bert
from dlc.coverage_report import Coverage

sys.path.insert(0, str(Path(__file__).parent.parent / "frontends" / "onnx"))
sys.path.insert(0, str(Path(__file__).parent.parent / "models"))
from malformed.build import HERE, MODELS
from model_sizes import NETWORKS

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def build(nodes: Sequence[onnx.NodeProto], inputs: dict[str, tuple[int, Sequence[Any] | None]], **more: Any) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in nodes[-1].output],
    )
    domains = [helper.make_opsetid(domain, 1) for domain in sorted({node.domain for node in nodes} - {""})]
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), *domains], ir_version=10, **more)


def node(op: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, [output], name=f"n_{output}", domain=domain, **attributes)


def states(found: Coverage) -> dict[str, str]:
    return {entry.name: entry.state for entry in found.nodes}


def test_a_model_that_compiles() -> None:
    found = dlc.coverage(bert(layers=1, hidden=32, heads=2, vocab=50, seq=8))
    assert (found.verdict, found.problems, found.values) == ("compiles", (), ())
    assert set(found.states()) <= {"native", "constant"}
    products = [entry for entry in found.nodes if entry.op == "MatMul"]
    assert len(products) == sum(found.counts()["MatMul"].values()) >= 6
    assert products[0].opset == 13
    assert all("unknown" not in (*entry.inputs, *entry.outputs) for entry in found.nodes)


def test_types_attributes_and_opsets() -> None:
    nodes = [node("Transpose", ["x"], "t", perm=[1, 0]), node("Clip", ["t", "", "most"], "y")]
    model = build(nodes, {"x": (FLOAT, ["n", 3])})
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(6), "most"))
    found = dlc.coverage(model)
    assert found.opsets == {"ai.onnx": 21}
    first, second = found.nodes
    assert (first.name, first.op, first.opset, first.attributes) == ("n_t", "Transpose", 21, ("perm = [1, 0]",))
    assert (first.inputs, first.outputs) == (("?x3xf32",), ("3x?xf32",))
    assert second.inputs == ("3x?xf32", "none", "constant f32")


def test_every_refused_node_has_a_line() -> None:
    nodes = [
        node("NoSuch", ["x"], "a", domain="own"),
        node("Relu", ["a"], "b"),
        node("Nothing", ["b"], "c", domain="own"),
        node("Softmax", ["x"], "d", axis=7),
        node("Add", ["b", "d"], "e"),
    ]
    found = dlc.coverage(build(nodes, {"x": (FLOAT, [2, 3])}))
    assert found.verdict == "refused"
    assert states(found) == {
        "n_a": "unsupported",
        "n_b": "unchecked",
        "n_c": "unsupported",
        "n_d": "unsupported",
        "n_e": "unchecked",
    }
    assert found.nodes[0].op == "own.NoSuch"
    assert found.nodes[0].reason == "the op is not supported"
    assert found.nodes[1].reason == "it depends on 'a', which has no type yet"
    assert "axis 7 is out of range" in found.nodes[3].reason
    with pytest.raises(dlc.UnsupportedError) as caught:
        dlc.compile(build(nodes, {"x": (FLOAT, [2, 3])}))
    lines = {(entry.name, entry.reason) for entry in found.nodes}
    assert {(refused.name, refused.reason) for refused in caught.value.nodes} <= lines


def test_inputs_of_no_known_type() -> None:
    found = dlc.coverage(build([node("Relu", ["x"], "y")], {"x": (FLOAT, None)}))
    assert found.verdict == "refused"
    assert found.problems == ("node 'x' (input): its rank is unknown; give its shape with the option `shapes`",)
    assert states(found) == {"n_y": "unchecked"}
    assert dlc.coverage(build([node("Relu", ["x"], "y")], {"x": (FLOAT, None)}), shapes={"x": [2]}).verdict == "compiles"


def test_functions_stand_before_their_bodies() -> None:
    loss = node("NegativeLogLikelihoodLoss", ["x", "t"], "y")
    found = dlc.coverage(build([loss], {"x": (FLOAT, [3, 5]), "t": (INT, [3])}))
    assert found.verdict == "compiles"
    assert (found.nodes[0].name, found.nodes[0].state) == ("n_y", "function")
    assert "ReduceMean" in found.nodes[0].reason and "Gather" in found.nodes[0].reason
    assert all(entry.name.startswith("n_y.") for entry in found.nodes[1:])
    assert len(found.nodes) > 4


def test_the_models_own_functions() -> None:
    body = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 21)]
    )
    found = dlc.coverage(build([node("Twice", ["x"], "y", domain="own")], {"x": (FLOAT, [2])}, functions=[body]))
    assert found.verdict == "compiles"
    assert [(entry.op, entry.state) for entry in found.nodes] == [("own.Twice", "function"), ("Add", "native")]


def test_nodes_that_are_specialised() -> None:
    nodes = [node("ReduceSum", ["x", "a"], "y", keepdims=0), node("Relu", ["y"], "z"), node("Unsqueeze", ["z", "b"], "w")]
    model = build(nodes, {"x": (FLOAT, [2, 3]), "a": (INT, [1]), "b": (INT, [1])})
    found = dlc.coverage(model)
    assert found.verdict == "compiles at its first call"
    assert (found.values, found.shapes) == (("a", "b"), ())
    assert states(found) == {"n_y": "specialised", "n_z": "native", "n_w": "specialised"}
    assert found.nodes[0].values == ("a",)
    assert "it depends on values of input 'a'" in found.nodes[0].reason
    assert states(dlc.coverage(model, values={"a": [1], "b": [0]})) == {"n_y": "native", "n_z": "native", "n_w": "native"}
    refused = dlc.coverage(model, values={"a": [1], "b": [5]})
    assert refused.verdict == "refused"
    assert "axis 5 is out of range" in refused.nodes[2].reason


def test_a_mode_that_must_be_known() -> None:
    nodes = [helper.make_node("Dropout", ["x", "ratio", "training"], ["y"], name="n_y")]
    model = build(nodes, {"x": (FLOAT, [2]), "ratio": (FLOAT, []), "training": (TensorProto.BOOL, [])})
    found = dlc.coverage(model)
    assert (found.nodes[0].state, found.nodes[0].values) == ("specialised", ("training",))
    assert (
        "training_mode (input 2) must be known at compile time; it depends on values of input 'training'" in found.nodes[0].reason
    )
    for training in (False, True):
        assert states(dlc.coverage(model, values={"training": training})) == {"n_y": "native"}


def test_dims_that_must_be_known() -> None:
    found = dlc.coverage(build([node("Squeeze", ["x"], "y"), node("Relu", ["y"], "z")], {"x": (FLOAT, ["n", 3])}))
    assert (found.verdict, found.values, found.shapes) == ("compiles at its first call", (), ("x",))
    assert states(found) == {"n_y": "specialised", "n_z": "native"}


def test_json() -> None:
    found = dlc.coverage(build([node("Relu", ["x"], "y"), node("NoSuch", ["y"], "z", domain="own")], {"x": (FLOAT, [2])}))
    record = found.to_json()
    assert {key: record[key] for key in ("verdict", "opsets", "values", "shapes", "problems")} == {
        "verdict": "refused",
        "opsets": {"ai.onnx": 21, "own": 1},
        "values": [],
        "shapes": [],
        "problems": [],
    }
    assert record["counts"] == {"Relu": {"native": 1}, "own.NoSuch": {"unsupported": 1}}
    assert record["nodes"][0] == {
        "name": "n_y",
        "op": "Relu",
        "opset": 14,
        "inputs": ["2xf32"],
        "outputs": ["2xf32"],
        "attributes": [],
        "state": "native",
        "reason": "",
        "values": [],
        "shapes": [],
    }


@pytest.mark.parametrize("name", MODELS)
def test_malformed_models_have_a_line(name: str) -> None:
    """Each is refused, in words of the error that refuses it when it is compiled."""
    file = HERE / f"{name}.onnx"
    found = dlc.coverage(file)
    assert found.verdict == "refused"
    with pytest.raises(dlc.DLCError) as caught:
        dlc.compile(file, cache=False)
    words = str(caught.value)
    told = [*found.problems, *(entry.reason for entry in found.nodes if entry.is_refused)]
    assert any(part and part in words for text in told for part in (text, text.split("; ")[0]))


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_compile(name: str) -> None:
    found = dlc.coverage(NETWORKS[name](dynamic_batch=True))
    assert found.verdict == "compiles"
    assert set(found.states()) <= {"native", "constant", "function"}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    found = dlc.coverage(tmp_path / "none.onnx")
    assert (found.verdict, found.nodes) == ("refused", ())
    assert found.problems == (f"{tmp_path}/none.onnx: error: no such file",)


def _backend_cases(share: int) -> list[Any]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    return [case for index, case in enumerate(cases) if case.model is not None and index % share == 0]


def refusal(model: onnx.ModelProto, inputs: Sequence[Any]) -> str:
    """What compiling and calling a model says where it refuses the model; empty where it does not."""
    try:
        compiled = dlc.compile(model, num_threads=1)
        compiled(*inputs[: len(compiled.inputs)])
    except dlc.UnsupportedError as error:
        return str(error)
    except dlc.InvalidInputError as error:
        return str(error) if str(error).startswith("with input") else ""
    except dlc.PassError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("share", [17])
def test_no_later_failure_without_a_line(share: int) -> None:
    """One in `share` of the node tests of the onnx package."""
    silent = []
    for case in _backend_cases(share):
        inputs = [onnx.numpy_helper.to_array(item) if isinstance(item, TensorProto) else item for item in case.data_sets[0][0]]
        names = [entry.name for entry in case.model.graph.input]
        found = dlc.coverage(case.model)
        given = {name: array for name, array in zip(names, inputs, strict=False) if name in found.values}
        found = dlc.coverage(case.model, values=given) if given else found
        words = refusal(case.model, inputs)
        told = [*found.problems, *(entry.reason for entry in found.nodes if entry.is_refused)]
        if bool(words) != bool(told) or (words and not any(text.split("; ")[0] in words for text in told)):
            silent.append(f"{case.name}: {words or 'is not refused'} / {told}")
    assert silent == []
