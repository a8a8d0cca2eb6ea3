"""Writes mlp.onnx, the model of the programs beside this file: two layers, `x` f32 [rows, 4] to `scores` f32 [rows, 3]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def build() -> onnx.ModelProto:
    """The model, with the same weights each time."""
    random = np.random.default_rng(0)
    weights = {"w0": (4, 8), "b0": (8,), "w1": (8, 3), "b1": (3,)}
    arrays = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name) for name, shape in weights.items()]
    nodes = [
        helper.make_node("Gemm", ["x", "w0", "b0"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["positive"]),
        helper.make_node("Gemm", ["positive", "w1", "b1"], ["scores"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["rows", 3])
    graph = helper.make_graph(nodes, "mlp", [x], [scores], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


if __name__ == "__main__":
    onnx.save(build(), Path(sys.argv[1] if len(sys.argv) > 1 else "mlp.onnx"))
