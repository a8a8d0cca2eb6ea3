"""Names of a graph: each is defined once, and not by what uses it; inputs and outputs have types that can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import onnx

from dlc.frontends.onnx.node_order import in_order
from dlc.frontends.onnx.validation.problems import Problems, place_of

_EXPORT = "export the model again"


def check_names(graph: onnx.GraphProto, problems: Problems) -> None:
    """Inputs, initializers and outputs, then what nodes use and make, in the order that they run in."""
    for what, entries in (("inputs", graph.input), ("initializers", graph.initializer), ("outputs", graph.output)):
        for name in _repeated(entry.name for entry in entries):
            problems.add("", f"two {what} are called '{name}'", "give each a name of its own")
    if not graph.output:
        problems.add("", "the model has no outputs", "export it with the values that it should give")
    known = {""} | {tensor.name for tensor in graph.initializer} | {entry.name for entry in graph.input}
    known |= {tensor.values.name for tensor in graph.sparse_initializer}
    later = {name for node in graph.node for name in node.output} - known
    for node in in_order(graph.node):
        _check_node(node, known, later, problems)
    for entry in graph.output:
        if not entry.name or entry.name not in known:
            problems.add("", f"nothing defines the model's output '{entry.name}'", _EXPORT)


def _check_node(node: onnx.NodeProto, known: set[str], later: set[str], problems: Problems) -> None:
    """`known` are values of nodes before it; `later` those that it and nodes after it make."""
    for used in dict.fromkeys(node.input):
        if used in known:
            continue
        known.add(used)  # said once
        what = "which is in a cycle of nodes or behind one" if used in later else "which nothing defines"
        problems.add(place_of(node), f"uses '{used}', {what}", _EXPORT)
    for made in node.output:
        if made and made in known and made not in later:
            problems.add(place_of(node), f"defines '{made}' a second time", "give each value a name of its own")
        known.add(made)
        later.discard(made)


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def check_inputs(graph: onnx.GraphProto, problems: Problems) -> None:
    """Declared types of inputs and outputs: element types that exist, dims that are not negative."""
    for what, entries in (("input", graph.input), ("output", graph.output), ("value", graph.value_info)):
        for entry in entries:
            _check_type(f"{what} '{entry.name}'", entry.type, problems)


def _check_type(place: str, kind: onnx.TypeProto, problems: Problems) -> None:
    if not kind.HasField("tensor_type"):
        return
    tensor = kind.tensor_type
    if tensor.elem_type not in onnx.TensorProto.DataType.values():
        problems.add(place, f"element type {tensor.elem_type} does not exist", _EXPORT)
    negative = [dim.dim_value for dim in tensor.shape.dim if dim.HasField("dim_value") and dim.dim_value < 0]
    if negative:
        remedy = "a dim that is not known has a name, or no value"
        problems.add(place, f"has a dim of {negative[0]}", remedy, tolerable=True)
