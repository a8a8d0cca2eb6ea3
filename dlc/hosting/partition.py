"""Cuts an ONNX graph into what is compiled and what the host computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from dlc.errors import ParseError, UnsupportedError, UnsupportedNode
from dlc.frontends.onnx.importers import find_importer
from dlc.frontends.onnx.loader import PreparedModel, infer_shapes, opset_of
from dlc.frontends.onnx.validation.problems import place_of
from dlc.hosting.decomposition import decomposed
from dlc.hosting.graph import ControlFlow, GraphSegment, HostCall, HostGraph, Step
from dlc.hosting.types import HostTensor, HostType, type_of_proto
from dlc.runtime.host.registry import HostNode, host_ops

_CONTROL_FLOW = ("If", "Loop", "Scan")
_BODIES = "its body has ops of the host, or cannot be compiled"


def partition(prepared: PreparedModel, name: str, declared: Mapping[str, HostType]) -> HostGraph | None:
    """The model `name` as a program of the host; None where nothing in it is the host's. `declared` holds types by name.

    Raises `ParseError` where a node makes another type than is declared, and `UnsupportedError` with nodes that neither the
    host nor compiled code computes.
    """
    model = prepared.proto
    cutter = _Cutter(model, name, declared)
    tensors = {tensor.name: tensor for tensor in (*model.graph.initializer, *prepared.weights.values())}
    graph = cutter.cut(model.graph, _Scope({}, tensors))
    if cutter.unsupported:
        raise UnsupportedError(cutter.unsupported, name)
    return graph if any(True for _ in graph.host_steps()) else None


@dataclass(frozen=True)
class _Scope:
    """What a graph sees: types by name, and the tensors of constants."""

    types: dict[str, HostType]
    tensors: dict[str, onnx.TensorProto]

    def is_hosted(self, name: str) -> bool:
        """Whether a value is known to be none that compiled code takes."""
        kind = self.types.get(name)
        return kind is not None and not (isinstance(kind, HostTensor) and (kind.is_compiled or kind.dtype is None))


@dataclass(frozen=True)
class _Place:
    """Where a node is computed: all compiled ones of a level together, then those of the host, one by one."""

    level: int
    is_hosted: bool


@dataclass
class _Cutter:
    model: onnx.ModelProto
    name: str
    declared: Mapping[str, HostType]
    unsupported: list[UnsupportedNode] = field(default_factory=list)
    segments: int = 0

    def cut(self, graph: onnx.GraphProto, outer: _Scope) -> HostGraph:
        """A graph inside of `outer` as steps."""
        scope = self._scope_of(graph, outer)
        own = {tensor.name: tensor for tensor in graph.initializer}
        scope.tensors.update(own)
        nodes = [node for node in self._decomposed(graph.node, scope) if not self._take_constant(node, scope, own)]
        places = _places(nodes, [self._is_hosted(node, scope) for node in nodes])
        wanted = _wanted(nodes, places, [entry.name for entry in graph.output])
        steps: list[Step] = []
        for level in range(max((place.level for place in places), default=-1) + 1):
            compiled, hosted = (
                [node for node, place in zip(nodes, places, strict=True) if place == _Place(level, by_host)]
                for by_host in (False, True)
            )
            if compiled:
                steps.append(self._segment(compiled, wanted, scope))
            steps += [step for node in hosted if (step := self._host_step(node, scope)) is not None]
        inputs = {entry.name: scope.types[entry.name] for entry in graph.input if entry.name not in own}
        outputs = {entry.name: scope.types.get(entry.name, HostTensor(None)) for entry in graph.output}
        used = dict.fromkeys((*outputs, *(name for step in steps for name in _reads(step) if name)))
        constants = {name: array_of(tensor) for name, tensor in scope.tensors.items() if name in used}
        made = {*inputs, *constants, *(name for step in steps for name in step.outputs)}
        return HostGraph(inputs, outputs, constants, tuple(steps), tuple(name for name in used if name not in made))

    def _decomposed(self, nodes: Sequence[onnx.NodeProto], scope: _Scope) -> Iterator[onnx.NodeProto]:
        """The nodes, those with another form for strings or complex numbers in that form."""
        for node in nodes:
            found = decomposed(node, scope.types)
            if found is None:
                yield node
                continue
            for name, kind in found.types.items():
                declared = self.declared.get(name)
                if isinstance(declared, HostTensor) and isinstance(kind, HostTensor) and declared.dtype not in (None, kind.dtype):
                    what = f"{place_of(node)}: makes '{name}' as {kind} but the model declares {declared}"
                    raise ParseError(f"{self.name}: error: {what}; correct the declaration, or export the model again")
            scope.types.update(found.types)
            yield from found.nodes

    def _scope_of(self, graph: onnx.GraphProto, outer: _Scope) -> _Scope:
        """What is known inside of a graph; values of the graph around are inputs to shape inference."""
        types = dict(outer.types)
        seen = onnx.ModelProto()
        seen.CopyFrom(onnx.ModelProto(ir_version=self.model.ir_version, opset_import=self.model.opset_import, graph=graph))
        for entry in (*seen.graph.value_info, *infer_shapes(seen).graph.value_info, *graph.output, *graph.input):
            kind = type_of_proto(entry.type)
            if kind != HostTensor(None):
                types[entry.name] = kind
            types.setdefault(entry.name, kind)
        for tensor in graph.initializer:
            types[tensor.name] = type_of_proto(onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims)))
        return _Scope(types, dict(outer.tensors))

    @staticmethod
    def _take_constant(node: onnx.NodeProto, scope: _Scope, own: dict[str, onnx.TensorProto]) -> bool:
        """Make a Constant of one tensor an initializer."""
        if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or [each.name for each in node.attribute] != ["value"]:
            return False
        tensor = onnx.TensorProto()
        tensor.CopyFrom(node.attribute[0].t)
        tensor.name = node.output[0]
        scope.tensors[tensor.name] = own[tensor.name] = tensor
        scope.types[tensor.name] = type_of_proto(onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims)))
        return True

    def _is_hosted(self, node: onnx.NodeProto, scope: _Scope) -> bool:
        """Whether the host computes a node."""
        key = _key_of(node)
        known = host_ops().get(key)
        if (known is not None and known.always) or any(map(scope.is_hosted, (*node.input, *node.output))):
            return True
        if key[1] not in _CONTROL_FLOW or key[0]:
            return False
        return find_importer(key) is None or any(self._holds_hosted(body, scope) for body in _bodies(node).values())

    def _holds_hosted(self, graph: onnx.GraphProto, outer: _Scope) -> bool:
        scope = self._scope_of(graph, outer)
        return any(self._is_hosted(node, scope) for node in graph.node)

    def _segment(self, nodes: Sequence[onnx.NodeProto], wanted: set[str], scope: _Scope) -> GraphSegment:
        """Nodes of one level as a model."""
        made = {name for node in nodes for name in node.output if name}
        free = dict.fromkeys(name for node in nodes for name in free_names(node) if name not in made)
        inputs = {name: scope.types.get(name, HostTensor(None)) for name in free if name not in scope.tensors}
        outputs = tuple(name for node in nodes for name in node.output if name in wanted)
        self.segments += 1
        name = f"{self.name} (segment {self.segments})"
        model = onnx.ModelProto(ir_version=self.model.ir_version, opset_import=self.model.opset_import)
        model.graph.name = name
        model.graph.node.extend(nodes)
        model.graph.initializer.extend(scope.tensors[each] for each in free if each in scope.tensors)
        model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(each) for each in outputs)
        return GraphSegment(model, name, inputs, outputs, {each: self.declared[each] for each in outputs if each in self.declared})

    def _host_step(self, node: onnx.NodeProto, scope: _Scope) -> Step | None:
        """The step of a node; None, and an entry of `unsupported`, where there is none."""
        domain, op = _key_of(node)
        label = node.name or next((name for name in node.output if name), op)
        inputs, outputs = tuple(node.input), tuple(node.output)
        bodies = {name: self.cut(body, scope) for name, body in _bodies(node).items()}
        attributes = {each.name: plain(each) for each in node.attribute if each.name not in bodies}
        title = f"{domain}.{op}" if domain else op
        if op in _CONTROL_FLOW and not domain:
            reason = self._control_flow_reason(node)
            if reason:
                self.unsupported.append(UnsupportedNode(label, title, reason))
            return ControlFlow(label, title, _BODIES, attributes, bodies, inputs, outputs)
        found = host_ops().get((domain, op))
        if found is None:
            kinds = ", ".join(str(scope.types[name]) for name in (*node.input, *node.output) if scope.is_hosted(name))
            self.unsupported.append(UnsupportedNode(label, title, f"the op is not supported for {kinds}"))
            return None
        host_node = HostNode(attributes, opset_of(self.model, domain), len(node.output))
        return HostCall(label, title, found.reason, found.function, host_node, inputs, outputs)

    def _control_flow_reason(self, node: onnx.NodeProto) -> str:
        """Why the host cannot run a node of control flow; "" where it can."""
        if node.op_type == "Scan" and opset_of(self.model) < 9:
            return "Scan of opset 8 is not supported; export the model with 9 or later"
        wanted = ("then_branch", "else_branch") if node.op_type == "If" else ("body",)
        missing = [name for name in wanted if name not in _bodies(node)]
        return f"the attribute '{missing[0]}' is missing" if missing else ""


def _places(nodes: Sequence[onnx.NodeProto], hosted: Sequence[bool]) -> list[_Place]:
    """Each node's level: compiled ones of a level need no host op of it, host ops need what is compiled up to it."""
    made: dict[str, _Place] = {}
    found = []
    for node, is_hosted in zip(nodes, hosted, strict=True):
        before = [made[name] for name in free_names(node) if name in made]
        level = max((place.level + (place.is_hosted and not is_hosted) for place in before), default=0)
        found.append(_Place(level, is_hosted))
        made.update((name, found[-1]) for name in node.output if name)
    return found


def _wanted(nodes: Sequence[onnx.NodeProto], places: Sequence[_Place], outputs: Sequence[str]) -> set[str]:
    """Values that are read elsewhere than in the segment that makes them."""
    makers = {name: place for node, place in zip(nodes, places, strict=True) for name in node.output if name}
    pairs = ((name, place) for node, place in zip(nodes, places, strict=True) for name in free_names(node))
    return {*outputs, *(name for name, place in pairs if name in makers and makers[name] != place)}


def _reads(step: Step) -> Iterator[str]:
    """Names that a step reads of the graph that it is in."""
    yield from step.inputs
    if isinstance(step, ControlFlow):
        for body in step.bodies.values():
            yield from body.captured


def free_names(node: onnx.NodeProto) -> Iterator[str]:
    """Values that a node reads, those that its bodies take from around among them."""
    yield from (name for name in node.input if name)
    for body in _bodies(node).values():
        own = {entry.name for entry in body.input} | {tensor.name for tensor in body.initializer}
        own |= {name for inner in body.node for name in inner.output}
        yield from (name for inner in body.node for name in free_names(inner) if name not in own)
        yield from (entry.name for entry in body.output if entry.name not in own)


def _bodies(node: onnx.NodeProto) -> Mapping[str, onnx.GraphProto]:
    return {attribute.name: attribute.g for attribute in node.attribute if attribute.HasField("g")}


def _key_of(node: onnx.NodeProto) -> tuple[str, str]:
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type)


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """A tensor as an array; strings as `str`."""
    if tensor.data_type != onnx.TensorProto.STRING:
        return onnx.numpy_helper.to_array(tensor)
    found = np.empty(len(tensor.string_data), object)
    found[:] = [text.decode("utf-8", "replace") for text in tensor.string_data]
    return found.reshape(tuple(tensor.dims))


_CONVERT: Mapping[int, Callable[[onnx.AttributeProto], Any]] = {
    onnx.AttributeProto.STRING: lambda attribute: attribute.s.decode("utf-8", "replace"),
    onnx.AttributeProto.STRINGS: lambda attribute: [text.decode("utf-8", "replace") for text in attribute.strings],
    onnx.AttributeProto.TENSOR: lambda attribute: array_of(attribute.t),
    onnx.AttributeProto.FLOATS: lambda attribute: list(attribute.floats),
    onnx.AttributeProto.INTS: lambda attribute: list(attribute.ints),
}


def plain(attribute: onnx.AttributeProto) -> Any:
    """An attribute as a Python value; the number of an element type as its name."""
    if attribute.name == "to":
        kind = type_of_proto(onnx.helper.make_tensor_type_proto(attribute.i, None))
        return kind.dtype if isinstance(kind, HostTensor) else None
    convert = _CONVERT.get(attribute.type, onnx.helper.get_attribute_value)
    return convert(attribute)
