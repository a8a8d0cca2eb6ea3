"""ONNX's Gradient as other nodes: the graph from `xs` to `y` at the values given, then its derivatives from `y` back to `xs`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx

from dlc.dialects.dl.types import Shape

_DOMAIN = "ai.onnx.preview.training"
_OWN_AXES = 13
"""The opset from which ReduceSum takes axes as an input."""


def expand_gradients(model: onnx.ModelProto, opset: int, infer: Callable[[onnx.ModelProto], onnx.ModelProto]) -> onnx.ModelProto:
    """The model with nodes in place of each Gradient of which all derivatives are known; `infer` gives a model with types.

    The others stay, for their importer to refuse.
    """
    for index, node in enumerate(model.graph.node):
        if (node.domain, node.op_type) != (_DOMAIN, "Gradient"):
            continue
        types = {entry.name: entry.type.tensor_type for entry in _entries(infer(model).graph)}
        try:
            made = _Tape(types, f"{node.name or node.output[0]}.", opset).differentiated(node, model.graph.node[:index])
        except _UnknownDerivative:
            continue
        expanded = onnx.ModelProto()
        expanded.CopyFrom(model)
        del expanded.graph.node[:]
        expanded.graph.node.extend([*model.graph.node[:index], *made, *model.graph.node[index + 1 :]])
        return expand_gradients(expanded, opset, infer)
    return model


def _entries(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    weights = [onnx.helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)) for each in graph.initializer]
    return [*graph.value_info, *graph.output, *graph.input, *weights]


class _UnknownDerivative(Exception):
    """A node of the graph has no rule, or sizes are not known that its rule needs."""


@dataclass
class _Tape:
    """Nodes that are made for one Gradient; `local` names the values of the graph at the point of the derivative."""

    types: Mapping[str, onnx.TypeProto.Tensor]
    prefix: str
    opset: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    local: dict[str, str] = field(default_factory=dict)
    gradients: dict[str, str] = field(default_factory=dict)

    def differentiated(self, node: onnx.NodeProto, before: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """The nodes in place of `node`, behind the nodes `before`."""
        given = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        xs, zs = ([each.decode() for each in given.get(name, [])] for name in ("xs", "zs"))
        y = given["y"].decode()
        if len(xs) + len(zs) != len(node.input):
            raise _UnknownDerivative
        self.local = dict(zip([*xs, *zs], node.input, strict=True))
        path = self._path(y, before)
        for each in path:
            self._copy(each)
        self.gradients[y] = self._filled(y, 1)
        for each in reversed(path):
            self._go_back(each)
        for x, output in zip(xs, node.output, strict=False):
            if output:
                self.nodes.append(onnx.helper.make_node("Identity", [self.gradients.get(x) or self._filled(x, 0)], [output]))
        return self.nodes

    def _path(self, y: str, before: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """The nodes that make y of xs and zs, in order."""
        wanted, found = {y}, []
        for node in reversed(before):
            if wanted.isdisjoint(node.output) or not set(node.output).isdisjoint(self.local):
                continue
            found.append(node)
            wanted.update(node.input)
        depends, path = set(self.local), []
        for node in reversed(found):
            if node.op_type not in _SIZES and not depends.isdisjoint(node.input):
                depends.update(node.output)
                path.append(node)
        return path

    def _copy(self, node: onnx.NodeProto) -> None:
        if node.op_type not in _RULES or node.domain not in ("", "ai.onnx"):
            raise _UnknownDerivative
        made = onnx.NodeProto()
        made.CopyFrom(node)
        made.input[:] = [self.local.get(name, name) for name in node.input]
        made.output[:] = [f"{self.prefix}{name}" for name in node.output]
        made.name = f"{self.prefix}{node.name or node.output[0]}"
        self.local.update(zip(node.output, made.output, strict=True))
        self.nodes.append(made)

    def _go_back(self, node: onnx.NodeProto) -> None:
        """Add what a node's inputs get of the derivative of its output."""
        gradient = self.gradients.get(node.output[0])
        if gradient is None:
            return
        x = [self.local.get(name, name) for name in node.input]
        parts = _RULES[node.op_type](self, node, gradient, x, self.local[node.output[0]])
        for name, part in zip(node.input, parts, strict=False):
            if name in self.local and part:
                part = self.summed(part, self.shape(node.output[0]), self.shape(name)) if node.op_type in _BROADCASTING else part
                self.gradients[name] = self.add("Add", self.gradients[name], part) if name in self.gradients else part

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """The output of a new node."""
        name = f"{self.prefix}{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def shape(self, name: str) -> Shape:
        """The dims of a value of the graph, which must be known."""
        kind = self.types.get(name)
        if kind is None or not kind.HasField("shape") or not all(dim.HasField("dim_value") for dim in kind.shape.dim):
            raise _UnknownDerivative
        return tuple(dim.dim_value for dim in kind.shape.dim)

    def number(self, name: str, value: float) -> onnx.TensorProto:
        """A number of the element type of a value of the graph."""
        if name not in self.types:
            raise _UnknownDerivative
        return onnx.helper.make_tensor("value", self.types[name].elem_type, [1], [value])

    def ints(self, values: Sequence[Any]) -> str:
        """A list of i64."""
        return self.add("Constant", value=onnx.helper.make_tensor("value", onnx.TensorProto.INT64, [len(values)], list(values)))

    def scalar(self, name: str, value: float) -> str:
        """A number that broadcasts with a value of the graph."""
        tensor = self.number(name, value)
        del tensor.dims[:]
        return self.add("Constant", value=tensor)

    def _filled(self, name: str, value: float) -> str:
        return self.add("ConstantOfShape", self.add("Shape", self.local[name]), value=self.number(name, value))

    def summed(self, part: str, whole: Shape, own: Shape) -> str:
        """Sums of `part`, of the shape `whole`, along the axes that an operand of the shape `own` was repeated along."""
        padded = (1,) * (len(whole) - len(own)) + tuple(own)
        axes = [axis for axis, (most, size) in enumerate(zip(whole, padded, strict=True)) if most != size]
        part = self.sum(part, axes) if axes else part
        return part if len(own) == len(whole) else self.add("Reshape", part, self.ints(own))

    def sum(self, part: str, axes: Sequence[int]) -> str:
        """Sums along axes, which stay with a size of 1."""
        if self.opset >= _OWN_AXES:
            return self.add("ReduceSum", part, self.ints(axes), keepdims=1)
        return self.add("ReduceSum", part, axes=list(axes), keepdims=1)


_Rule = Callable[[_Tape, onnx.NodeProto, str, list[str], str], Sequence[str]]
"""Takes the tape, the node of the graph, the derivative of its output, its inputs and its output; gives those of the inputs."""


def _of_matmul(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    """Of matrices and stacks of them."""
    shapes = [tape.shape(name) for name in node.input]
    if min(len(shape) for shape in shapes) < 2:
        raise _UnknownDerivative
    stack = tape.shape(node.output[0])[:-2]
    turned = [
        tape.add("Transpose", each, perm=[*range(len(shape) - 2), len(shape) - 1, len(shape) - 2])
        for each, shape in zip(x, shapes, strict=True)
    ]
    parts = tape.add("MatMul", g, turned[1]), tape.add("MatMul", turned[0], g)
    return [tape.summed(part, (*stack, *shape[-2:]), shape) for part, shape in zip(parts, shapes, strict=True)]


def _of_transpose(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    perm = next((list(each.ints) for each in node.attribute if each.name == "perm"), [])
    return [tape.add("Transpose", g, **({"perm": [perm.index(axis) for axis in range(len(perm))]} if perm else {}))]


def _of_sum(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    """Repeated along the axes that were reduced, which come back first where they went."""
    rank = len(tape.shape(node.input[0]))
    if len(tape.shape(node.output[0])) not in (0, rank):
        axes = next((list(each.ints) for each in node.attribute if each.name == "axes"), [])
        if len(x) > 1 and x[1]:
            g = tape.add("Unsqueeze", g, x[1])
        else:
            g = tape.add("Unsqueeze", g, tape.ints(axes)) if tape.opset >= _OWN_AXES else tape.add("Unsqueeze", g, axes=axes)
    return [tape.add("Expand", g, tape.add("Shape", x[0]))]


def _of_mean(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    count = math.prod(_sizes(tape, node.input[0])) // max(math.prod(_sizes(tape, node.output[0])), 1)
    return [tape.add("Div", part, tape.scalar(node.input[0], count)) for part in _of_sum(tape, node, g, x, y)]


def _sizes(tape: _Tape, name: str) -> list[int]:
    return [int(str(dim)) for dim in tape.shape(name)]


def _of_softmax(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    """y * (g - the sum of g * y), and of its logarithm g - exp(y) * the sum of g; older opsets join axes."""
    if tape.opset < _OWN_AXES:
        raise _UnknownDerivative
    axis = next((each.i for each in node.attribute if each.name == "axis"), -1)
    if node.op_type == "LogSoftmax":
        return [tape.add("Sub", g, tape.add("Mul", tape.add("Exp", y), tape.sum(g, [axis])))]
    return [tape.add("Mul", y, tape.add("Sub", g, tape.sum(tape.add("Mul", g, y), [axis])))]


def _of_erf(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    """2 / sqrt(pi) * exp(-x^2)."""
    bell = tape.add("Exp", tape.add("Neg", tape.add("Mul", x[0], x[0])))
    return [tape.add("Mul", g, tape.add("Mul", bell, tape.scalar(node.input[0], 2 / math.sqrt(math.pi))))]


def _reshaped(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    return [tape.add("Reshape", g, tape.add("Shape", x[0]))]


def _of_relu(tape: _Tape, node: onnx.NodeProto, g: str, x: list[str], y: str) -> Sequence[str]:
    zero = tape.scalar(node.input[0], 0)
    return [tape.add("Where", tape.add("Greater", x[0], zero), g, zero)]


_BROADCASTING = ("Add", "Sub", "Mul", "Div")
_SIZES = ("Shape", "Size")
"""Ops whose results do not change with the elements of their input."""
_RULES: Mapping[str, _Rule] = {
    "Abs": lambda tape, node, g, x, y: [tape.add("Mul", g, tape.add("Sign", x[0]))],
    "Add": lambda tape, node, g, x, y: (g, g),
    "Cos": lambda tape, node, g, x, y: [tape.add("Neg", tape.add("Mul", g, tape.add("Sin", x[0])))],
    "Div": lambda tape, node, g, x, y: (
        tape.add("Div", g, x[1]),
        tape.add("Neg", tape.add("Div", tape.add("Mul", g, y), x[1])),
    ),
    "Erf": _of_erf,
    "Exp": lambda tape, node, g, x, y: [tape.add("Mul", g, y)],
    "Flatten": _reshaped,
    "Identity": lambda tape, node, g, x, y: [g],
    "Log": lambda tape, node, g, x, y: [tape.add("Div", g, x[0])],
    "LogSoftmax": _of_softmax,
    "MatMul": _of_matmul,
    "Mul": lambda tape, node, g, x, y: (tape.add("Mul", g, x[1]), tape.add("Mul", g, x[0])),
    "Neg": lambda tape, node, g, x, y: [tape.add("Neg", g)],
    "Reciprocal": lambda tape, node, g, x, y: [tape.add("Neg", tape.add("Mul", g, tape.add("Mul", y, y)))],
    "ReduceMean": _of_mean,
    "ReduceSum": _of_sum,
    "Relu": _of_relu,
    "Reshape": _reshaped,
    "Sigmoid": lambda tape, node, g, x, y: [tape.add("Mul", g, tape.add("Sub", y, tape.add("Mul", y, y)))],
    "Sin": lambda tape, node, g, x, y: [tape.add("Mul", g, tape.add("Cos", x[0]))],
    "Softmax": _of_softmax,
    "Softplus": lambda tape, node, g, x, y: [tape.add("Mul", g, tape.add("Sigmoid", x[0]))],
    "Sqrt": lambda tape, node, g, x, y: [tape.add("Div", g, tape.add("Add", y, y))],
    "Squeeze": _reshaped,
    "Sub": lambda tape, node, g, x, y: (g, tape.add("Neg", g)),
    "Tanh": lambda tape, node, g, x, y: [tape.add("Sub", g, tape.add("Mul", g, tape.add("Mul", y, y)))],
    "Transpose": _of_transpose,
    "Unsqueeze": _reshaped,
}
DERIVED = tuple(_RULES)
"""The ops whose derivatives are known."""
