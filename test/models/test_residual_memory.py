"""Sums of a convolution and a residual: right wherever the residual is read again, and in its memory where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import dlc
from dlc.analysis.buffers import nested_ops

CHANNELS, SIZE = 32, 12


def _network(tail: list[onnx.NodeProto], outputs: list[str], batch: int | str = 1) -> onnx.ModelProto:
    """`a` = relu(conv(x)), then `tail`, in which `w1` and `w2` are kernels of one tap and `b` is a bias."""
    generator = np.random.default_rng(3)
    weights: dict[str, Any] = {name: generator.standard_normal((CHANNELS, CHANNELS, 1, 1)) * 0.2 for name in ("w0", "w1", "w2")}
    weights["b"] = generator.standard_normal(CHANNELS)
    shape = [batch, CHANNELS, SIZE, SIZE]
    head = [helper.make_node("Conv", ["x", "w0"], ["c"]), helper.make_node("Relu", ["c"], ["a"])]
    graph = helper.make_graph(
        head + tail,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _node(kind: str, inputs: str, output: str) -> onnx.NodeProto:
    return helper.make_node(kind, inputs.split(), [output])


BLOCK = [_node("Conv", "a w1 b", "p"), _node("Relu", "p", "q"), _node("Conv", "q w2 b", "r"), _node("Add", "r a", "s")]
AGAIN = [_node("Conv", "t w1 b", "p2"), _node("Relu", "p2", "q2"), _node("Conv", "q2 w2 b", "r2"), _node("Add", "t r2", "u")]
CASES = {
    "read last": ([*BLOCK, _node("Relu", "s", "t")], ["t"]),
    "twice": ([*BLOCK, _node("Relu", "s", "t"), *AGAIN], ["u"]),
    "without a bias": ([_node("Conv", "a w1", "p"), _node("Conv", "p w2", "r"), _node("Add", "a r", "s")], ["s"]),
    "an output, too": (BLOCK, ["s", "a"]),
    "read again": ([*BLOCK, _node("Mul", "s a", "m")], ["m"]),
    "added to its own product": ([_node("Conv", "a w1 b", "p"), _node("Add", "p a", "s")], ["s"]),
    "added twice": ([*BLOCK, _node("Add", "s a", "v")], ["v"]),
    "the input": ([_node("Conv", "a w1 b", "p"), _node("Add", "p x", "s")], ["s"]),
    "shared with the same kernel": ([*BLOCK, _node("Relu", "s", "t"), *AGAIN, _node("Mul", "u t", "m")], ["m"]),
}


@pytest.mark.parametrize("batch", [1, 3, "n"])
@pytest.mark.parametrize("case", CASES)
def test_equals_onnxruntime(case: str, batch: int | str) -> None:
    model = _network(*CASES[case], batch)
    x = np.random.default_rng(5).standard_normal((3 if batch == "n" else batch, CHANNELS, SIZE, SIZE)).astype(np.float32)
    expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    compiled = dlc.compile(model)
    for _ in range(2):
        for result, wanted in zip(compiled(x), expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("case", "given"), [("read last", 1), ("twice", 1), ("an output, too", 0), ("read again", 0)])
def test_sum_takes_the_memory_of_what_is_read_last(case: str, given: int) -> None:
    """Kernels whose call names no buffer for the result: they write what they are given."""
    module = dlc.lower(_network(*CASES[case]), "affine", target="cpu:znver4")
    calls = [op for op in nested_ops(module.operation) if op.name == "func.call"]
    assert {len(call.operands) for call in calls if "conv_add" in str(call.attributes["callee"])} == {5 - given}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[onnx.NodeProto], list[str]]:
    """Some convolutions, sums, products and activations of values before them, and which of the values are outputs."""
    names, nodes = ["a"], []
    for number in range(draw(st.integers(2, 9))):
        kind = draw(st.sampled_from(["Conv", "Conv", "Add", "Add", "Relu", "Mul"]))
        x, y = (names[-1 - draw(st.integers(0, min(3, len(names) - 1)))] for _ in range(2))
        inputs = {"Conv": f"{x} {draw(st.sampled_from(['w1', 'w2 b']))}", "Relu": x}.get(kind, f"{x} {y}")
        names.append(f"v{number}")
        nodes.append(_node(kind, inputs, names[-1]))
    others = draw(st.lists(st.sampled_from(names[1:]), max_size=2, unique=True))
    return nodes, list(dict.fromkeys([names[-1], *others]))


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_any_order_of_sums_equals_onnxruntime(graph: tuple[list[onnx.NodeProto], list[str]]) -> None:
    model = _network(*graph)
    x = np.random.default_rng(7).standard_normal((1, CHANNELS, SIZE, SIZE)).astype(np.float32)
    expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    for result, wanted in zip(dlc.compile(model)(x), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-3 * max(1.0, float(np.abs(wanted).max())))
