"""Floats of 6 bits in models, against ONNX's reference evaluator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import dlc

FLOATS6 = (TensorProto.FLOAT6E2M3, TensorProto.FLOAT6E3M2)
X = np.array([0, 0.06, 0.1, 1, -2.4, 7.4, 30, -100, np.inf], np.float32)
info, node = helper.make_tensor_value_info, helper.make_node
BOTH = pytest.mark.parametrize("kind", FLOATS6)


def model_of(
    nodes: Sequence[onnx.NodeProto], taken: int, given: int, constants: Sequence[onnx.TensorProto] = ()
) -> onnx.ModelProto:
    """A model from x of one element type to y of another."""
    graph = helper.make_graph(list(nodes), "small", [info("x", taken, [len(X)])], [info("y", given, [len(X)])], list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)])


def check(model: onnx.ModelProto, x: np.ndarray) -> None:
    (have,), (want,) = dlc.compile(model)(x), ReferenceEvaluator(model).run(None, {"x": x})
    assert have.dtype == want.dtype
    np.testing.assert_array_equal(have.astype(np.float32), want.astype(np.float32))


@BOTH
def test_casts(kind: int) -> None:
    """Both ways, and from text."""
    check(model_of([node("Cast", ["x"], ["y"], to=kind)], TensorProto.FLOAT, kind), X)
    small = X.astype(helper.tensor_dtype_to_np_dtype(kind))
    check(model_of([node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], kind, TensorProto.FLOAT), small)
    model = model_of([node("Cast", ["x"], ["y"], to=kind)], TensorProto.STRING, kind)
    (have,) = dlc.compile(model)(np.array([str(number) for number in X], object))
    np.testing.assert_array_equal(have.astype(np.float32), small.astype(np.float32))


@BOTH
@pytest.mark.parametrize("raw", [False, True])
def test_weights_are_packed_or_not(kind: int, raw: bool) -> None:
    """Bytes hold the bits of four numbers in three, int32_data one number each."""
    small = X.astype(helper.tensor_dtype_to_np_dtype(kind))
    weight = helper.make_tensor("w", kind, [len(X)], small, raw=raw)
    nodes = [node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT), node("Add", ["x", "wide"], ["y"])]
    check(model_of(nodes, TensorProto.FLOAT, TensorProto.FLOAT, [weight]), np.ones(len(X), np.float32))


@BOTH
def test_quantized_numbers(kind: int) -> None:
    """The type comes from the zero point or from the attribute."""
    scale, zero = numpy_helper.from_array(np.float32(2), "s"), helper.make_tensor("z", kind, [], [0.0])
    check(model_of([node("QuantizeLinear", ["x", "s", "z"], ["y"])], TensorProto.FLOAT, kind, [scale, zero]), X)
    nodes = [node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=kind), node("DequantizeLinear", ["q", "s"], ["y"])]
    check(model_of(nodes, TensorProto.FLOAT, TensorProto.FLOAT, [scale]), X)


@BOTH
def test_optional_values(kind: int) -> None:
    nodes = [
        node("Optional", ["x"], ["o"]),
        node("OptionalGetElement", ["o"], ["held"]),
        node("Cast", ["held"], ["y"], to=TensorProto.FLOAT),
    ]
    small = X.astype(helper.tensor_dtype_to_np_dtype(kind))
    (have,) = dlc.compile(model_of(nodes, kind, TensorProto.FLOAT))(small)
    np.testing.assert_array_equal(have, small.astype(np.float32))
