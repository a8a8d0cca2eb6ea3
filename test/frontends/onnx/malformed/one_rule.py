"""Declares models that break one rule each: `MODELS` says by file name how one is built, and what the error must say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


@dataclass(frozen=True)
class Malformed:
    """A model, or the bytes of a file, and a pattern of the error that refuses it."""

    build: Callable[[], onnx.ModelProto | bytes]
    pattern: str


MODELS: dict[str, Malformed] = {}


def malformed(name: str, pattern: str) -> Callable[[Callable[[], onnx.ModelProto | bytes]], None]:
    """Register a builder under the name of its file."""

    def register(build: Callable[[], onnx.ModelProto | bytes]) -> None:
        assert name not in MODELS, name
        MODELS[name] = Malformed(build, pattern)

    return register


def value(name: str, shape: Sequence[int | str] | None, kind: int = FLOAT) -> onnx.ValueInfoProto:
    """The declaration of an input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, array: Any) -> TensorProto:
    """An initializer."""
    return numpy_helper.from_array(np.asarray(array), name)


def model(
    nodes: Sequence[onnx.NodeProto],
    *initializers: TensorProto,
    inputs: Sequence[onnx.ValueInfoProto] | None = None,
    outputs: Sequence[onnx.ValueInfoProto] | None = None,
    opset: int = 17,
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """A model of `x` (4 floats) and `y` unless other inputs or outputs are given."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [value("x", [4])] if inputs is None else list(inputs),
        [value("y", None)] if outputs is None else list(outputs),
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def node(op: str, inputs: Sequence[str] = ("x",), outputs: Sequence[str] = ("y",), **attributes: Any) -> onnx.NodeProto:
    """A node called `n`."""
    return helper.make_node(op, list(inputs), list(outputs), name="n", **attributes)


RELU = node("Relu")
IMAGE = [value("x", [1, 3, 8, 8])]


def simple(name: str, pattern: str, *arguments: Any, **keywords: Any) -> None:
    """Register a model that `model` builds from these arguments."""
    malformed(name, pattern)(lambda: model(*arguments, **keywords))


def tensor(name: str, pattern: str, **fields: Any) -> None:
    """Register a sum with an initializer `w` of these fields."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        return model([node("Add", ["x", "w"])], TensorProto(name="w", **fields))


def edited(name: str, pattern: str, edit: Callable[[onnx.ModelProto], object]) -> None:
    """Register a valid model after `edit`."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        made = model([node("Relu")])
        edit(made)
        return made


def damaged(name: str, pattern: str, old: bytes, middle: bytes) -> None:
    """Register the bytes of a valid model with two bytes of `old` replaced."""

    @malformed(name, pattern)
    def _() -> bytes:
        graph = model(
            [helper.make_node("Relu", ["inputname0"], ["y"], name="nodename00")], inputs=[value("inputname0", ["dimname000"])]
        )
        content: bytes = graph.SerializeToString()
        assert old in content
        return content.replace(old, old[:2] + middle + old[4:])
