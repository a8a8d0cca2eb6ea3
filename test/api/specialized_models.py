"""Small models that read inputs as values, for tests of their specialization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from reference_session import reference_session

import dlc

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)


def build(nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, tuple[int, Sequence[Any] | None]], **weights: np.ndarray) -> Any:
    """A model whose outputs are the last node's, of no declared rank."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in nodes[-1].output],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def node(op: str, inputs: Sequence[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, [output], name=f"n_{output}", **attributes)


def reduction(keepdims: int = 0) -> onnx.ModelProto:
    nodes = [node("ReduceSum", ["x", "axes"], "y", keepdims=keepdims), node("Relu", ["y"], "z")]
    return build(nodes, {"x": (FLOAT, ["n", 3, 4]), "axes": (INT, ["k"])})


def product(rows: int | str = "n") -> onnx.ModelProto:
    """Axes are removed from a product with a weight."""
    nodes = [node("MatMul", ["x", "w"], "p"), node("ReduceMean", ["p", "axes"], "y", keepdims=0)]
    return build(nodes, {"x": (FLOAT, [rows, 3, 4]), "axes": (INT, ["k"])}, w=W)


def check(model: onnx.ModelProto, compiled: dlc.CompiledModel, feeds: Mapping[str, np.ndarray]) -> None:
    """The results of a call are onnxruntime's."""
    session = reference_session(model)
    for have, want in zip(compiled(dict(feeds)), session.run(None, dict(feeds)), strict=True):
        assert have.shape == want.shape
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
