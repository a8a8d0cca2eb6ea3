"""Reading models: weights are not copied on the way, and what is inferred does not need them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import dlc
from dlc.frontends.onnx.loader import prepare_model

_SIZE = 64


def _model(op: str = "Gemm") -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal((_SIZE, _SIZE), np.float32)
    nodes = [helper.make_node(op, ["x", "w"], ["y"]), helper.make_node("Reshape", ["y", "shape"], ["z"])]
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, _SIZE])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.array([-1, 8]), "shape")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_large_weights_stay_where_they_are() -> None:
    model = _model()
    prepared = prepare_model(model, "model")
    assert [tensor.name for tensor in prepared.proto.graph.initializer] == ["shape"]
    assert prepared.proto.ByteSize() < 4 * _SIZE * _SIZE
    assert set(prepared.weights) == {"w"}
    assert [tensor.name for tensor in model.graph.initializer] == ["w", "shape"]


def test_shapes_are_inferred_from_declared_weights() -> None:
    inferred = {entry.name: entry for entry in prepare_model(_model(), "model").proto.graph.value_info}
    assert [dim.dim_value for dim in inferred["y"].type.tensor_type.shape.dim][1] == _SIZE


def test_overridden_shapes_reach_the_results() -> None:
    source = dlc.import_onnx(_model(), {"x": [16, _SIZE]})
    assert "tensor<128x8xf32>" in str(source.module)


def test_weights_are_no_inputs_to_override() -> None:
    with pytest.raises(dlc.InvalidInputError, match=r"no input and no dim 'w' \(inputs: x; dims: none\)"):
        dlc.import_onnx(_model(), {"w": [1, _SIZE]})
