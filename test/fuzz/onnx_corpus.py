"""The models that are mutated: the onnx package's node tests of every op that has an importer, contrib ops, small networks."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from dlc.frontends.onnx.importers import importers

_LARGEST = 6000
"""Bytes of a model. Larger ones are slow and hold nothing but more weights."""
_CASES_OF_OP = 5
_CONTRIB = "com.microsoft"
_VECTOR = TensorProto.FLOAT


def small_models() -> list[bytes]:
    """A few models that are built at once."""
    return [model.SerializeToString() for model in (*_contrib_models(), *_networks(), *_converted())]


@functools.cache
def all_models() -> list[bytes]:
    """All models; the onnx package takes some seconds to build its own."""
    return [*small_models(), *_node_tests()]


def _node_tests() -> Iterator[bytes]:
    """Each op's first cases that are small, as they are and with all inputs but the first as constants."""
    from onnx.backend.test.case.node import collect_testcases

    left = {op: _CASES_OF_OP for domain, op in importers() if domain == ""}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = list(collect_testcases(None))
    for case in cases:
        op = case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else ""
        if not left.get(op):
            continue
        variants = [case.model, *_with_constants(case)]
        small = [data for data in (model.SerializeToString() for model in variants) if len(data) <= _LARGEST]
        if small:
            left[op] -= 1
            yield from small


def _with_constants(case: Any) -> Iterator[onnx.ModelProto]:
    """The model of a case with inputs after the first as initializers, if they are tensors."""
    arrays = case.data_sets[0][0][1:]
    if not arrays or not all(isinstance(array, np.ndarray) for array in arrays):
        return
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    names = [entry.name for entry in model.graph.input][1:]
    del model.graph.input[1:]
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in zip(names, arrays, strict=False))
    yield model


def _model(nodes: Sequence[onnx.NodeProto], inputs: dict[str, Sequence[int | str]], **weights: np.ndarray) -> onnx.ModelProto:
    """Nodes on f32 inputs of these shapes; what nobody reads is an output."""
    read = {name for node in nodes for name in node.input}
    made = [name for node in nodes for name in node.output if name and name not in read]
    graph = helper.make_graph(
        nodes,
        "seed",
        [helper.make_tensor_value_info(name, _VECTOR, list(shape)) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, _VECTOR, None) for name in made],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    domains = [helper.make_opsetid("", 17)]
    domains += [helper.make_opsetid(_CONTRIB, 1)] if any(node.domain for node in nodes) else []
    return helper.make_model(graph, opset_imports=domains, ir_version=9)


def _contrib(op: str, *inputs: str, outputs: Sequence[str] = ("out",), **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, list(inputs), list(outputs), domain=_CONTRIB, **attributes)


def _floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def _contrib_models() -> Iterator[onnx.ModelProto]:
    x, size = {"x": [2, 4, 8]}, _floats(8)
    yield _model([_contrib("BiasGelu", "x", "b")], x, b=size)
    yield _model([_contrib("FastGelu", "x", "b")], x, b=size)
    yield _model([_contrib("QuickGelu", "x", alpha=1.5)], x)
    yield _model([_contrib("FusedMatMul", "x", "w", transB=1, alpha=2.0)], x, w=_floats(3, 8))
    yield _model([_contrib("FusedGemm", "x", "w", "b", activation="Relu")], {"x": [3, 8]}, w=_floats(8, 5), b=_floats(5))
    pads = {"kernel_shape": [3, 3], "pads": [1] * 4}
    yield _model([_contrib("FusedConv", "x", "w", activation="Relu", **pads)], {"x": [1, 3, 6, 6]}, w=_floats(4, 3, 3, 3))
    norm = {"scale": size, "shift": size}
    yield _model([_contrib("SkipLayerNormalization", "x", "s", "scale", "shift", epsilon=1e-5)], {**x, "s": [2, 4, 8]}, **norm)
    yield _model([_contrib("SkipSimplifiedLayerNormalization", "x", "s", "scale")], {**x, "s": [2, 4, 8]}, scale=size)
    yield _model([helper.make_node("SimplifiedLayerNormalization", ["x", "scale"], ["out"], epsilon=1e-6)], x, scale=size)
    yield _model([_contrib("Attention", "x", "w", "b", num_heads=2, unidirectional=1)], x, w=_floats(8, 24), b=_floats(24))
    parts = {"q": [2, 4, 8], "k": [2, 6, 8], "v": [2, 6, 8]}
    yield _model([_contrib("MultiHeadAttention", "q", "k", "v", num_heads=2, scale=0.25)], parts)
    places = {"places": np.arange(8).reshape(2, 4), "cos": _floats(9, 2), "sin": _floats(9, 2)}
    yield _model([_contrib("RotaryEmbedding", "x", "places", "cos", "sin")], x, **places)


def _networks() -> Iterator[onnx.ModelProto]:
    make = helper.make_node
    conv = [
        make("Conv", ["x", "w", "b"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        make("BatchNormalization", ["c", "b", "b", "b", "v"], ["n"], epsilon=1e-3),
        make("Relu", ["n"], ["r"]),
        make("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        make("Flatten", ["p"], ["f"], axis=1),
        make("Gemm", ["f", "m"], ["g"], transB=1, alpha=0.5),
        make("Softmax", ["g"], ["out"], axis=-1),
    ]
    shapes = {"w": _floats(4, 3, 3, 3), "b": _floats(4), "v": np.abs(_floats(4)) + 1, "m": _floats(5, 16)}
    yield _model(conv, {"x": [1, 3, 8, 8]}, **shapes)
    sizes = [
        make("Shape", ["x"], ["s"]),
        make("Gather", ["s", "zero"], ["n"], axis=0),
        make("Concat", ["n", "rest"], ["t"], axis=0),
        make("Reshape", ["x", "t"], ["y"]),
        make("Transpose", ["y"], ["z"], perm=[0, 2, 1]),
        make("Slice", ["z", "zero", "two", "one"], ["l"]),
        make("Split", ["l"], ["a", "b"], axis=1),
        make("Mul", ["a", "b"], ["m"]),
        make("ReduceMean", ["m"], ["out"], axes=[-1], keepdims=0),
    ]
    numbers = {"zero": [0], "one": [1], "two": [2], "rest": [3, -1]}
    yield _model(sizes, {"x": ["n", 12]}, **{name: np.array(value, np.int64) for name, value in numbers.items()})
    attention = [
        make("MatMul", ["x", "w"], ["q"]),
        make("Transpose", ["x"], ["k"], perm=[0, 2, 1]),
        make("MatMul", ["q", "k"], ["s"]),
        make("Mul", ["s", "c"], ["t"]),
        make("Softmax", ["t"], ["p"], axis=-1),
        make("MatMul", ["p", "x"], ["o"]),
        make("Add", ["o", "x"], ["r"]),
        make("LayerNormalization", ["r", "g", "g"], ["out"], axis=-1),
    ]
    yield _model(attention, {"x": ["batch", "length", 8]}, w=_floats(8, 8), c=np.array(0.35, np.float32), g=_floats(8))


def _converted() -> Iterator[onnx.ModelProto]:
    """Parts of networks as converters and exporters write them."""
    make = helper.make_node
    quantised = [
        make("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        make("ConvInteger", ["q", "w", "zero", "wz"], ["sums"], group=8, pads=[1, 1, 1, 1]),
        make("Cast", ["sums"], ["wide"], to=TensorProto.FLOAT),
        make("Mul", ["scale", "ws"], ["factor"]),
        make("Mul", ["wide", "factor"], ["out"]),
    ]
    weights = np.arange(72, dtype=np.int8).reshape(8, 1, 3, 3) - 36
    numbers = {"w": weights, "wz": np.array(0, np.int8), "ws": np.array(0.03, np.float32)}
    yield _model(quantised, {"x": ["batch", 8, 9, 11]}, **numbers)
    constant_norm = [
        make("Shape", ["x"], ["sizes"]),
        make("Expand", ["nought", "sizes"], ["filled"]),
        make("LayerNormalization", ["filled", "g", "g"], ["normed"], axis=-1),
        make("Add", ["normed", "x"], ["out"]),
    ]
    yield _model(constant_norm, {"x": ["batch", 10, 64]}, nought=np.array(0, np.float32), g=_floats(64))
    neighbours = [
        make("Pad", ["x", "before"], ["later"]),
        make("Pad", ["x", "behind"], ["earlier"]),
        make("Concat", ["later", "earlier"], ["out"], axis=2),
    ]
    pads = {"before": np.array([0, 1, 0, 0, 0, 0]), "behind": np.array([0, 0, 0, 0, 1, 0])}
    yield _model(neighbours, {"x": ["batch", "length", 16]}, **pads)
    tokens = [
        make("Transpose", ["x"], ["columns"], perm=[0, 2, 1]),
        make("Reshape", ["columns", "shape"], ["image"]),
        make("Conv", ["image", "w"], ["out"], group=4, pads=[1, 1, 1, 1]),
    ]
    yield _model(tokens, {"x": [1, 1024, 4]}, shape=np.array([1, 4, 32, 32]), w=_floats(4, 1, 3, 3))
