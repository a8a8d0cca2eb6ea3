"""The optimisers of ai.onnx.preview.training, against the reference evaluator of the onnx package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_check import check_backend_cases, compare

import dlc

_TRAINING = "ai.onnx.preview.training"
_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "Adagrad": {"norm_coefficient": 0.01, "decay_factor": 0.1},
    "Adam": {"norm_coefficient": 0.01, "alpha": 0.8, "beta": 0.9, "norm_coefficient_post": 0.02},
    "Momentum": {"norm_coefficient": 0.01, "alpha": 0.8, "beta": 0.5, "mode": "nesterov"},
}
_STATES = {"Adagrad": 1, "Adam": 2, "Momentum": 1}


def _model(op: str, dtype: type, count: int) -> Any:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    kinds = [f"{letter}{at}" for letter in "xgvh"[: 2 + _STATES[op]] for at in range(count)]
    results = [f"new_{name}" for name in kinds if name[0] != "g"]
    shapes = {name: [2 + int(name[-1]), 3] for name in kinds}
    inputs = [helper.make_tensor_value_info("r", TensorProto.FLOAT, []), helper.make_tensor_value_info("t", TensorProto.INT64, [])]
    inputs += [helper.make_tensor_value_info(name, kind, shapes[name]) for name in kinds]
    outputs = [helper.make_tensor_value_info(name, kind, shapes[name[4:]]) for name in results]
    node = helper.make_node(op, ["r", "t", *kinds], results, domain=_TRAINING, **_ATTRIBUTES[op])
    graph = helper.make_graph([node], "step", inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_TRAINING, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("op", ["Adagrad", "Adam", "Momentum"])
def test_package(op: str) -> None:
    assert check_backend_cases(op) >= 2


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", ["Adagrad", "Adam", "Momentum"])
def test_step(op: str, dtype: type, steps: int) -> None:
    model, generator = _model(op, dtype, 2), np.random.default_rng(3)
    feeds: dict[str, np.ndarray] = {"r": np.float32(0.1).reshape(()), "t": np.array(steps, np.int64)}
    for entry in model.graph.input[2:]:
        shape = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
        feeds[entry.name] = generator.uniform(0.1, 1.0, shape).astype(dtype)
    expected = ReferenceEvaluator(model).run(None, feeds)
    for output, have, want in zip(model.graph.output, dlc.compile(model)(feeds), expected, strict=True):
        compare(have, np.asarray(want, dtype), output.name, rtol=1e-6)


def test_refused() -> None:
    model = _model("Momentum", np.float32, 1)
    next(entry for entry in model.graph.node[0].attribute if entry.name == "mode").s = b"other"
    with pytest.raises(dlc.UnsupportedError, match="mode other is not one of standard and nesterov"):
        dlc.compile(model)
    model = _model("Adam", np.float32, 1)
    del model.graph.node[0].input[-1], model.graph.node[0].output[-1], model.graph.output[-1]
    with pytest.raises(dlc.UnsupportedError, match="3 tensors are given, which is no multiple of 4"):
        dlc.compile(model)
