"""What a model takes and gives by its own declarations, before any of its nodes is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import onnx

from dlc.dialects.dl.types import TensorType
from dlc.frontends.onnx.declared import Declaration, declared_type, declared_types
from dlc.frontends.onnx.input_shapes import input_shapes
from dlc.frontends.onnx.loader import override_shapes


@dataclass(frozen=True)
class Interface:
    """Types of the inputs that are no weights, and declarations of the outputs, in order."""

    inputs: Mapping[str, TensorType]
    outputs: Mapping[str, Declaration]


def interface_of(model: onnx.ModelProto, shapes: Mapping[str, Any] | None = None) -> Interface:
    """The interface of a valid model whose inputs are tensors of a known rank; `shapes` overrides those of inputs."""
    graph = _outline(model)
    shapes = input_shapes(model, shapes)
    if shapes:
        graph = override_shapes(onnx.ModelProto(graph=graph), shapes).graph
    weights = {tensor.name for tensor in model.graph.initializer}
    types = {entry.name: declared_type(entry) for entry in graph.input if entry.name not in weights}
    declared = declared_types(graph)
    outputs = {entry.name: declared.get(entry.name, [Declaration(None, None)])[-1] for entry in graph.output}
    return Interface({name: kind for name, kind in types.items() if kind is not None}, outputs)


def _outline(model: onnx.ModelProto) -> onnx.GraphProto:
    """A graph of the model's inputs and outputs alone."""
    graph = onnx.GraphProto(name=model.graph.name)
    graph.input.extend(model.graph.input)
    graph.output.extend(model.graph.output)
    return graph
