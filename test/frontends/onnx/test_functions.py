"""Ops of ONNX that are functions of other ops."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_check import build_model, check, check_backend_cases, node

import dlc


@pytest.mark.slow
@pytest.mark.parametrize("op", ["HannWindow", "SoftmaxCrossEntropyLoss", "CausalConvWithState"])
def test_backend_cases(op: str) -> None:
    """Defaults of attributes, functions within functions, and inputs named "", in the onnx package's own tests."""
    assert check_backend_cases(op) > 0


def test_two_calls_keep_their_names_apart() -> None:
    """Two losses in one model: neither body sees the other's values."""
    scores = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    nodes = [
        node("SoftmaxCrossEntropyLoss", ["scores", "labels"], ["mean"]),
        node("SoftmaxCrossEntropyLoss", ["scores", "labels"], ["each", "log"], reduction="none"),
    ]
    check(nodes, {"scores": scores, "labels": np.array([1, 0, 4, 2])}, opset=13)


def test_function_of_another_opset() -> None:
    """Before opset 13 the axes of a sum were an attribute."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    model = build_model([node("RowSums", ["x"], ["y"], domain="own")], {"x": x}, opset=17)
    body = [node("ReduceSum", ["a"], ["b"], axes=[1], keepdims=0)]
    model.functions.append(helper.make_function("own", "RowSums", ["a"], ["b"], body, [helper.make_opsetid("", 11)]))
    np.testing.assert_array_equal(dlc.compile(model)(x)[0], x.sum(1))


def test_model_without_the_default_domain() -> None:
    """A model of another domain's ops alone needs no opset of the default one."""
    kind = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    entry = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")
    graph = helper.make_graph([entry], "g", [kind], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)
    found = dlc.compile(model)(np.array([-1.0, 2.0], np.float32))[0]
    np.testing.assert_array_equal(found, np.array([0.0, 1.0], np.float32))
