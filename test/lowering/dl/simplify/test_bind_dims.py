"""A version of a recurrent layer for one size is what importing the layer with that size gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from reference_session import reference_session

import dlc
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.frontends.onnx.importer import import_model
from dlc.lowering.dl.simplify.bind_dims import BindDims
from dlc.lowering.pipeline import Pipeline

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_INPUTS, _HIDDEN = 8, 16


def _layer(op: str, seq: int | str, batch: int | str, direction: str = "forward", has_lengths: bool = False) -> onnx.ModelProto:
    random, ways, rows = np.random.default_rng(3), 2 if direction == "bidirectional" else 1, _GATES[op] * _HIDDEN
    shapes = {"w": (ways, rows, _INPUTS), "r": (ways, rows, _HIDDEN), "b": (ways, 2 * rows)}
    weights = [
        numpy_helper.from_array(random.standard_normal(shape).astype(np.float32) * np.float32(0.3), name)
        for name, shape in shapes.items()
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [seq, batch, _INPUTS])]
    if has_lengths:
        inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, [batch]))
    names = ["y", "h", *(["c"] if op == "LSTM" else [])]
    taken = ["x", *shapes, *(["lengths"] if has_lengths else [])]
    node = helper.make_node(op, taken, names, hidden_size=_HIDDEN, direction=direction)
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    graph = helper.make_graph([node], "layer", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _optimized(model: onnx.ModelProto, sizes: Mapping[str, int]) -> str:
    """The graph as calls of kernels, after its dims have these sizes."""
    imported = import_model(model, make_context())
    with imported.module.context, ir.Location.unknown():
        if sizes:
            Pipeline([BindDims(tuple(f"{name}={size}" for name, size in sizes.items()))]).run(imported.module)
        Pipeline(["dl-optimize"]).run(imported.module)
    return str(imported.module)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("op", "direction", "has_lengths"),
    [("LSTM", "forward", False), ("LSTM", "bidirectional", True), ("GRU", "reverse", False), ("RNN", "forward", True)],
)
@pytest.mark.parametrize("sizes", [{"S": 12}, {"B": 3}, {"S": 12, "B": 3}, {"S": 2, "B": 3}], ids=str)
def test_same_code(op: str, direction: str, has_lengths: bool, sizes: dict[str, int]) -> None:
    known = _layer(op, sizes.get("S", "S"), sizes.get("B", "B"), direction, has_lengths)
    assert _optimized(_layer(op, "S", "B", direction, has_lengths), sizes) == _optimized(known, {})


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
def test_numbers(op: str) -> None:
    """The version for these sizes, that for all, and onnxruntime."""
    model = _layer(op, "S", "B", "bidirectional", True)
    compiled = dlc.compile(model, shapes={"S": [12], "B": [3]})
    session = reference_session(model)
    for seq, batch in ((12, 3), (5, 3), (12, 2)):
        x = np.random.default_rng(seq).standard_normal((seq, batch, _INPUTS)).astype(np.float32)
        feeds = {"x": x, "lengths": np.arange(seq, seq - batch, -1, dtype=np.int32)}
        for have, want in zip(compiled(feeds), session.run(None, feeds), strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
