"""Models that tests build as native code, and programs that call them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from bench.networks import bert

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "native"
COMPILER, CXX, NM, VALGRIND = (shutil.which(tool) for tool in ("cc", "g++", "nm", "valgrind"))
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
LIBRARIES = ("-lm", "-lpthread")


def example_model() -> onnx.ModelProto:
    """The model of the examples."""
    folder = str(EXAMPLES)
    sys.path.insert(0, folder)
    try:
        from model import build

        return build()
    finally:
        sys.path.remove(folder)


def small_cnn() -> onnx.ModelProto:
    """`image` f32 [1, 3, 16, 16] to `probabilities` f32 [1, 4]: convolution, pool, product, softmax."""
    random = np.random.default_rng(1)
    weights = {"w": (8, 3, 3, 3), "b": (8,), "dense": (8, 4)}
    arrays = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name) for name, shape in weights.items()]
    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["features"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["features"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "dense"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probabilities"]),
    ]
    return _proto(nodes, [("image", TensorProto.FLOAT, [1, 3, 16, 16])], [("probabilities", TensorProto.FLOAT, [1, 4])], arrays)


def mixed_types() -> onnx.ModelProto:
    """Names that are none of C, element types, a scalar, several outputs, and a size in two inputs."""
    nodes = [
        helper.make_node("Add", ["input.1", "int"], ["sum/0"]),
        helper.make_node("Cast", ["sum/0"], ["1half"], to=TensorProto.FLOAT16),
        helper.make_node("Greater", ["sum/0", "scalar"], ["is:greater"]),
    ]
    whole = TensorProto.INT64
    inputs = [("input.1", whole, ["n", 3]), ("int", whole, ["n", 3]), ("scalar", whole, [])]
    outputs = [("sum/0", whole, ["n", 3]), ("1half", TensorProto.FLOAT16, ["n", 3]), ("is:greater", TensorProto.BOOL, ["n", 3])]
    return _proto(nodes, inputs, outputs, [])


def _proto(nodes: list[onnx.NodeProto], inputs: list, outputs: list, arrays: list[onnx.TensorProto]) -> onnx.ModelProto:
    given, results = ([helper.make_tensor_value_info(*each) for each in values] for values in (inputs, outputs))
    graph = helper.make_graph(nodes, "small", given, results, arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def checked_run(command: Sequence[object], **options: object) -> str:
    """What a command prints; its message where it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)  # type: ignore
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def residual_block() -> onnx.ModelProto:
    """`x` f32 [1, 8, 14, 14] to `y`: two convolutions and a sum."""
    random = np.random.default_rng(4)
    arrays = [numpy_helper.from_array((random.standard_normal((8, 8, 3, 3)) / 8).astype(np.float32), name) for name in ("w0", "w1")]
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["first"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["first"], ["positive"]),
        helper.make_node("Conv", ["positive", "w1"], ["second"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["second", "x"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["y"]),
    ]
    shape = [1, 8, 14, 14]
    return _proto(nodes, [("x", TensorProto.FLOAT, shape)], [("y", TensorProto.FLOAT, shape)], arrays)


def small_lstm() -> onnx.ModelProto:
    """`x` f32 [5, 2, 6] to the states of an LSTM of 4, `y` [5, 1, 2, 4]."""
    random = np.random.default_rng(5)
    shapes = {"w": (1, 16, 6), "r": (1, 16, 4), "b": (1, 32)}
    arrays = [
        numpy_helper.from_array((random.standard_normal(shape) / 4).astype(np.float32), name) for name, shape in shapes.items()
    ]
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=4)]
    return _proto(nodes, [("x", TensorProto.FLOAT, [5, 2, 6])], [("y", TensorProto.FLOAT, [5, 1, 2, 4])], arrays)


def small_attention() -> onnx.ModelProto:
    """`x` f32 [2, 8, 16] to `y`: one head of attention, a sum and a layer norm."""
    random = np.random.default_rng(6)
    arrays = [numpy_helper.from_array((random.standard_normal((16, 16)) / 4).astype(np.float32), name) for name in ("q", "k", "v")]
    arrays.append(numpy_helper.from_array(np.ones(16, np.float32), "scale"))
    nodes = [
        *(helper.make_node("MatMul", ["x", name], [f"x{name}"]) for name in ("q", "k", "v")),
        helper.make_node("Transpose", ["xk"], ["kt"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["xq", "kt"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"]),
        helper.make_node("MatMul", ["weights", "xv"], ["mixed"]),
        helper.make_node("Add", ["mixed", "x"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "scale"], ["y"]),
    ]
    return _proto(nodes, [("x", TensorProto.FLOAT, [2, 8, 16])], [("y", TensorProto.FLOAT, [2, 8, 16])], arrays)


def bert_tiny() -> onnx.ModelProto:
    """BERT of 2 layers, 128 wide, for 128 tokens: three inputs of i64 [1, 128] to `hidden` and `pooled`."""
    return bert.build(layers=2, hidden=128, heads=2)


def byte_product() -> onnx.ModelProto:
    """`x` ui8 [9, 64] to its product with signed bytes, `y` i32 [9, 48]."""
    weights = np.random.default_rng(7).integers(-128, 128, (64, 48)).astype(np.int8)
    nodes = [helper.make_node("MatMulInteger", ["x", "w", "zero"], ["y"])]
    arrays = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.array(3, np.uint8), "zero")]
    return _proto(nodes, [("x", TensorProto.UINT8, [9, 64])], [("y", TensorProto.INT32, [9, 48])], arrays)


def odd_models() -> dict[str, tuple[onnx.ModelProto, list[np.ndarray]]]:
    """Models of an op each, with inputs: nothing in, one value out twice, sizes that elements tell, none, no elements, no dims."""
    whole, numbers = TensorProto.INT64, TensorProto.FLOAT
    relu, weight = helper.make_node("Relu", ["x"], ["y"]), numpy_helper.from_array(np.array([-1, 2], np.float32), "x")
    same, found = helper.make_node("Identity", ["y"], ["z"]), helper.make_node("NonZero", ["x"], ["y"])
    total = helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)
    rows = np.array([[0, 1, 0, 2], [0, 0, 3, 0]], np.float32)
    return {
        "no_input": (_proto([relu], [], [("y", numbers, [2])], [weight]), []),
        "twice": (_proto([relu, same], [("x", numbers, [2, 4])], [("y", numbers, [2, 4]), ("z", numbers, [2, 4])], []), [rows]),
        "sizes": (_proto([found], [("x", numbers, [None, 4])], [("y", whole, [2, None])], []), [rows]),
        "empty": (_proto([relu], [("x", numbers, ["n", 4])], [("y", numbers, ["n", 4])], []), [rows[:0]]),
        "scalar": (_proto([total], [("x", numbers, ["n", 4])], [("y", numbers, [])], []), [rows]),
    }
