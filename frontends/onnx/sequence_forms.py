"""How the ops that read a sequence read it where tensors stand for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

_AXES_AS_INPUT = 13
"""The opset from which Unsqueeze takes its axes as an input."""
_MOST_CHUNKS = 1 << 16
"""Of a tensor that is cut evenly: more would be a large constant."""


class NoTensor(Exception):
    """A sequence is more than a tensor."""


@dataclass(frozen=True)
class ModelFacts:
    """The opset of a model, the constants of values that are known (else None), and the shapes that are."""

    opset: int
    known: Callable[[str], np.ndarray | None]
    shape_of: Mapping[str, Sequence[int | None]]


class Nodes:
    """Nodes in the place of one; the last one gives its output."""

    def __init__(self, facts: ModelFacts, node: onnx.NodeProto) -> None:
        self._facts, self._node = facts, node
        self._label = node.name or node.output[0]
        self.made: list[onnx.NodeProto] = []

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{self._node.output[0]}__{len(self.made)}"
        self.made.append(helper.make_node(op, list(inputs), [name], name=f"{self._label}.{op}", **attributes))
        return name

    def constant(self, value: object) -> str:
        return self.add("Constant", value=numpy_helper.from_array(np.asarray(value, np.int64)))

    def unsqueezed(self, name: str, axis: int) -> str:
        if self._facts.opset < _AXES_AS_INPUT:
            return self.add("Unsqueeze", name, axes=[axis])
        return self.add("Unsqueeze", name, self.constant([axis]))

    def end(self) -> list[onnx.NodeProto]:
        self.made[-1].output[0] = self._node.output[0]
        return self.made


class Form:
    """How a sequence is read where tensors stand for it; what cannot be raises `NoTensor`."""

    def __init__(self, facts: ModelFacts, maker: onnx.NodeProto) -> None:
        self.facts, self.maker = facts, maker

    def at(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        raise NoTensor

    def length(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        raise NoTensor

    def joined(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        raise NoTensor


class Parts(Form):
    """A sequence that is written out."""

    def at(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        place = self.facts.known(node.input[1])
        if place is None or place.ndim or place.dtype.kind != "i" or not self._has(int(place)):
            raise NoTensor
        nodes = Nodes(self.facts, node)
        nodes.add("Identity", self.maker.input[int(place)])
        return nodes.end()

    def _has(self, place: int) -> bool:
        return -len(self.maker.input) <= place < len(self.maker.input)

    def length(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        nodes = Nodes(self.facts, node)
        nodes.constant(len(self.maker.input))
        return nodes.end()

    def joined(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        nodes, axis = Nodes(self.facts, node), _integer(node, "axis", 0)
        parts = list(self.maker.input)
        if _integer(node, "new_axis", 0):
            parts = [nodes.unsqueezed(part, axis) for part in parts]
        nodes.add("Concat", *parts, axis=axis)
        return nodes.end()


class Chunks(Form):
    """A sequence that is cut from a tensor: at places that are known, or into slices of one."""

    def __init__(self, facts: ModelFacts, maker: onnx.NodeProto) -> None:
        super().__init__(facts, maker)
        self._axis, self._keeps = _integer(maker, "axis", 0), bool(_integer(maker, "keepdims", 1))
        self._ends = self._places() if len(maker.input) > 1 and maker.input[1] else None

    def _places(self) -> np.ndarray:
        """Where each chunk ends."""
        given, shape = self.facts.known(self.maker.input[1]), self.facts.shape_of.get(self.maker.input[0])
        if given is None or shape is None or not -len(shape) <= self._axis < len(shape):
            raise NoTensor
        size = shape[self._axis]
        if size is None or given.ndim > 1 or given.dtype.kind != "i":
            raise NoTensor
        if given.size == 0 or int(given.min()) < 0 or (given.ndim == 0 and int(given) == 0):
            raise NoTensor
        step = 0 if given.ndim else int(given)
        if step and size > step * _MOST_CHUNKS:
            raise NoTensor
        ends = np.minimum(np.arange(step, size + step, step), size) if step else np.cumsum(given)
        if not len(ends) or ends[-1] != size:
            raise NoTensor
        return np.asarray(ends, np.int64)

    def at(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        nodes, place = Nodes(self.facts, node), node.input[1]
        if self._ends is None:
            nodes.add("Gather", self.maker.input[0], nodes.unsqueezed(place, 0) if self._keeps else place, axis=self._axis)
            return nodes.end()
        one = nodes.unsqueezed(place, 0)
        starts = nodes.constant([0, *self._ends[:-1]])
        ends = nodes.add("Gather", nodes.constant(self._ends), one, axis=0)
        nodes.add("Slice", self.maker.input[0], nodes.add("Gather", starts, one, axis=0), ends, nodes.constant([self._axis]))
        return nodes.end()

    def length(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        nodes = Nodes(self.facts, node)
        if self._ends is not None:
            nodes.constant(len(self._ends))
        else:
            nodes.add("Gather", nodes.add("Shape", self.maker.input[0]), nodes.constant(self._axis), axis=0)
        return nodes.end()


class StackedForm(Form):
    """A sequence whose tensors, of one shape, lie along the first axis of a tensor."""

    def __init__(self, facts: ModelFacts, maker: onnx.NodeProto, stack: str) -> None:
        super().__init__(facts, maker)
        self._stack = stack
        self.is_stacked = False

    def at(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        nodes = Nodes(self.facts, node)
        nodes.add("Gather", self._stack, node.input[1], axis=0)
        return nodes.end()

    def length(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        nodes = Nodes(self.facts, node)
        nodes.add("Gather", nodes.add("Shape", self._stack), nodes.constant(0), axis=0)
        return nodes.end()

    def joined(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """PyTorch's stack, which takes tensors of one shape alone."""
        if not _integer(node, "new_axis", 0):
            raise NoTensor
        self.is_stacked = True
        nodes, axis, shape = Nodes(self.facts, node), _integer(node, "axis", 0), self.facts.shape_of.get(node.output[0])
        if axis == 0:
            nodes.add("Identity", self._stack)
            return nodes.end()
        if shape is None or not -len(shape) <= axis < len(shape):
            raise NoTensor
        rank, axis = len(shape), axis % len(shape)
        nodes.add("Transpose", self._stack, perm=[*range(1, axis + 1), 0, *range(axis + 1, rank)])
        return nodes.end()


def _integer(node: onnx.NodeProto, name: str, default: int) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), default)
