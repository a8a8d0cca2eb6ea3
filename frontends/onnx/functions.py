"""Expands ops of ONNX that are functions of other ops and have no importer of their own.

The onnx package's inliner leaves out defaults of attributes, functions within functions, and inputs named "".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import onnx

from dlc.frontends.onnx.importers import find_importer
from dlc.frontends.onnx.validation.nodes import schema_of

_DEEPEST = 8
"""Functions within functions; ONNX's own are 3 deep."""

Types = Mapping[str, onnx.TypeProto]
_I64_INPUTS = {"CenterCropPad": 1}
"""Inputs of functions that may be i32 but that the bodies compute with as i64."""


def expand_functions(
    model: onnx.ModelProto,
    opset_of: Callable[[str], int],
    infer: Callable[[onnx.ModelProto], onnx.ModelProto],
    note: Callable[[onnx.NodeProto, Sequence[onnx.NodeProto]], None],
) -> onnx.ModelProto:
    """The model with function ops replaced by their bodies; `opset_of` gives a domain's version, `infer` a model with types.

    Bodies that depend on types are asked for with those that are known then. `note` hears of each call and what replaces it.
    """
    for level in range(_DEEPEST):
        chosen = [_expandable(node, opset_of) for node in model.graph.node]
        if not any(chosen):
            return model
        types = _types_of(infer(model))
        expanded = onnx.ModelProto()
        expanded.CopyFrom(model)
        del expanded.graph.node[:]
        for index, (node, schema) in enumerate(zip(model.graph.node, chosen, strict=True)):
            body = _body_of(node, schema, opset_of(_domain_of(node)), types) if schema is not None else None
            nodes = [node] if body is None else _Instance(node, body, f"__{level}_{index}").nodes()
            expanded.graph.node.extend(nodes)
            if body is not None:
                note(node, nodes)
        if expanded == model:
            return model
        model = expanded
    return model


def _expandable(node: onnx.NodeProto, opset_of: Callable[[str], int]) -> onnx.defs.OpSchema | None:
    """The schema of a node that is a function and has no importer."""
    domain = _domain_of(node)
    if find_importer((domain, node.op_type)) is not None:
        return None
    schema = schema_of(node.op_type, opset_of(domain), domain)
    return schema if schema is not None and (schema.has_function or schema.has_context_dependent_function) else None


def _domain_of(node: onnx.NodeProto) -> str:
    return "" if node.domain == "ai.onnx" else node.domain


def _types_of(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    graph = model.graph
    found = {entry.name: entry.type for entry in (*graph.value_info, *graph.output, *graph.input)}
    for tensor in graph.initializer:
        found.setdefault(tensor.name, onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims)))
    return found


def _body_of(node: onnx.NodeProto, schema: onnx.defs.OpSchema, version: int, types: Types) -> onnx.FunctionProto | None:
    """The function of a node with the defaults of its attributes, or None where the onnx package has none for its types."""
    full = onnx.NodeProto()
    full.CopyFrom(node)
    given = {attribute.name for attribute in node.attribute}
    defaults = [entry.default_value for name, entry in schema.attributes.items() if name not in given]
    full.attribute.extend(default for default in defaults if default.type != onnx.AttributeProto.UNDEFINED)
    text = _function_text(full, schema, version, types)
    if not text:
        return None
    body = onnx.FunctionProto()
    body.ParseFromString(text)
    _fill_references(body.node, {attribute.name: attribute for attribute in full.attribute})
    if node.op_type in _I64_INPUTS:
        _widen_input(body, body.input[_I64_INPUTS[node.op_type]])
    return body


def _widen_input(body: onnx.FunctionProto, name: str) -> None:
    """Read an input as i64."""
    wide = f"{name}_i64"
    for node in body.node:
        node.input[:] = [wide if each == name else each for each in node.input]
    body.node.insert(0, onnx.helper.make_node("Cast", [name], [wide], to=onnx.TensorProto.INT64))


def _function_text(node: onnx.NodeProto, schema: onnx.defs.OpSchema, version: int, types: Types) -> bytes:
    try:
        if schema.has_function:
            fixed: bytes = schema.get_function_with_opset_version(_newest(schema.function_opset_versions, version))
            return fixed
        kinds = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        since = _newest(schema.context_dependent_function_opset_versions, version)
        made: bytes = schema.get_context_dependent_function_with_opset_version(since, node.SerializeToString(), kinds)
        return made
    except (RuntimeError, ValueError):  # types that are not known, or that the function does not take
        return b""


def _newest(versions: Sequence[int], most: int) -> int:
    return max((version for version in versions if version <= most), default=most)


def _fill_references(nodes: Sequence[onnx.NodeProto], values: Mapping[str, onnx.AttributeProto]) -> None:
    """Put the call's attributes where the body refers to them; those without a value go."""
    for node in nodes:
        kept = []
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _fill_references(attribute.g.node, values)
            if not attribute.ref_attr_name:
                kept.append(attribute)
            elif attribute.ref_attr_name in values:
                filled = onnx.AttributeProto()
                filled.CopyFrom(values[attribute.ref_attr_name])
                filled.name = attribute.name
                kept.append(filled)
        copies = [onnx.AttributeProto.FromString(attribute.SerializeToString()) for attribute in kept]
        del node.attribute[:]
        node.attribute.extend(copies)


@dataclass(frozen=True)
class _Instance:
    """A body in the place of one node: its own names get a suffix, its inputs and outputs the node's names."""

    call: onnx.NodeProto
    body: onnx.FunctionProto
    suffix: str

    def nodes(self) -> list[onnx.NodeProto]:
        """The renamed nodes; outputs that the call does not name get names of their own."""
        inputs = [*self.call.input, *[""] * len(self.body.input)]
        names = dict(zip(self.body.input, inputs, strict=False))
        for inner, outer in zip(self.body.output, self.call.output, strict=False):
            if outer:
                names[inner] = outer
        return [self._renamed(node, names) for node in self.body.node]

    def _renamed(self, node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = (
            f"{self.call.name or next((name for name in self.call.output if name), node.op_type)}.{node.name or node.op_type}"
        )
        copy.input[:] = [self._name(name, names) for name in node.input]
        copy.output[:] = [self._name(name, names) for name in node.output]
        for attribute in copy.attribute:
            if attribute.HasField("g"):
                self._rename_graph(attribute.g, names)
        return copy

    def _rename_graph(self, graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
        for entry in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            entry.name = self._name(entry.name, names)
        nodes = [self._renamed(node, names) for node in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)

    def _name(self, name: str, names: Mapping[str, str]) -> str:
        if not name:
            return ""
        return names.get(name, f"{name}{self.suffix}")
