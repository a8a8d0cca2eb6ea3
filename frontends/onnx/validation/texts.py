"""Texts of a model: protobuf hands those that are no UTF-8 over as bytes."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from dlc.frontends.onnx.validation.problems import Problems

_REMEDY = "export the model again, the file is damaged"


def check_texts(model: onnx.ModelProto, problems: Problems) -> None:
    """All names must be UTF-8 without the character NUL."""
    for place, text in _texts(model):
        if not isinstance(text, str):
            problems.add("", f"{place} {bytes(text)!r} is not UTF-8", _REMEDY)
        elif "\0" in text:
            problems.add("", f"{place} {text!r} holds a NUL", _REMEDY)


def _texts(model: onnx.ModelProto) -> Iterator[tuple[str, str | bytes]]:
    for entry in model.opset_import:
        yield "the domain of an opset", entry.domain
    yield from _graph_texts(model.graph)
    for function in model.functions:
        yield "the name of a function", function.name
        yield from _node_texts(function.node)


def _graph_texts(graph: onnx.GraphProto) -> Iterator[tuple[str, str | bytes]]:
    for what, entries in (("an input", graph.input), ("an output", graph.output), ("a value", graph.value_info)):
        for entry in entries:
            yield f"the name of {what}", entry.name
            for dim in entry.type.tensor_type.shape.dim:
                yield f"the name of a dim of {what}", dim.dim_param
    for tensor in graph.initializer:
        yield "the name of an initializer", tensor.name
    yield from _node_texts(graph.node)


def _node_texts(nodes: object) -> Iterator[tuple[str, str | bytes]]:
    for node in nodes:  # type: ignore[attr-defined]  # a repeated field
        yield "the name of a node", node.name
        yield "the op of a node", node.op_type
        yield "the domain of a node", node.domain
        for name in (*node.input, *node.output):
            yield "the name of a value", name
        for attribute in node.attribute:
            yield "the name of an attribute", attribute.name
            if attribute.HasField("g"):
                yield from _graph_texts(attribute.g)
