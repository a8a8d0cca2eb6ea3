"""Builds ONNX graphs with seeded weights node by node."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
_IR_VERSION = 9

Dims = Sequence["int | str"]


class GraphBuilder:
    """An ONNX graph in the making; values are names.

    Weights come from one generator, scaled by their fan-in so that activations stay near one at any depth.
    """

    def __init__(self, name: str, seed: int, opset: int = OPSET) -> None:
        self._name = name
        self._opset = opset
        self._random = np.random.default_rng(seed)
        self._scope: list[str] = []
        self._counts: dict[str, int] = {}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Put `name/` before the names of all that the block adds."""
        self._scope.append(name)
        yield
        self._scope.pop()

    def _unique(self, stem: str) -> str:
        path = "/".join([*self._scope, stem])
        count = self._counts.get(path, 0)
        self._counts[path] = count + 1
        return f"{path}_{count}" if count else path

    def input(self, name: str, shape: Dims, element: int = TensorProto.FLOAT) -> str:
        """A graph input; a word in `shape` is a dynamic dim."""
        self._inputs.append(helper.make_tensor_value_info(name, element, list(shape)))
        return name

    def output(self, name: str, value: str, shape: Dims, element: int = TensorProto.FLOAT) -> None:
        """Make `value` the graph output `name`."""
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"{name}/Identity"))
        self._outputs.append(helper.make_tensor_value_info(name, element, list(shape)))

    def input_sequence(self, name: str, shape: Dims, element: int = TensorProto.FLOAT) -> str:
        """A graph input that is a sequence of tensors."""
        self._inputs.append(helper.make_tensor_sequence_value_info(name, element, list(shape)))
        return name

    def output_sequence(self, name: str, value: str, shape: Dims, element: int = TensorProto.FLOAT) -> None:
        """Make `value`, a sequence of tensors, the graph output `name`."""
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"{name}/Identity"))
        self._outputs.append(helper.make_tensor_sequence_value_info(name, element, list(shape)))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Append a node with one output and return that."""
        return self.ops(kind, *inputs, outputs=1, **attributes)[0]

    def ops(self, kind: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """Append a node with several outputs and return them."""
        name = self._unique(kind)
        made = [name] if outputs == 1 else [f"{name}.{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), made, name=name, **attributes))
        return made

    def constant(self, value: Any, dtype: Any = np.float32, name: str = "constant") -> str:
        """An initializer with the given contents."""
        unique = self._unique(name)
        self._weights.append(numpy_helper.from_array(np.asarray(value, dtype), unique))
        return unique

    def integers(self, *values: int) -> str:
        """An i64 vector: axes, shapes, split sizes."""
        return self.constant(values, np.int64, "integers")

    def normal(self, name: str, shape: Sequence[int], scale: float, mean: float = 0.0) -> str:
        """Normal weights."""
        return self.constant(self._random.standard_normal(shape, np.float32) * scale + mean, name=name)

    def uniform(self, name: str, shape: Sequence[int], low: float, high: float) -> str:
        """Uniform weights."""
        return self.constant(self._random.uniform(low, high, shape), name=name)

    def matrix(self, name: str, shape: Sequence[int], fan_in: int, gain: float = 1.0) -> str:
        """Weights of variance `gain / fan_in`: 2 before a ReLU (He), 1 else."""
        return self.normal(name, shape, math.sqrt(gain / fan_in))

    @contextmanager
    def body(self, name: str) -> Iterator[GraphBuilder]:
        """A builder of the body of a branch or loop, which may read all values of this one; weights are those of the whole."""
        inner = copy.copy(self)
        inner._name = self._unique(name)
        inner._nodes, inner._inputs, inner._outputs = [], [], []
        with inner.scope(name):
            yield inner

    def graph(self) -> onnx.GraphProto:
        """What a body is, for an attribute of the node."""
        return helper.make_graph(self._nodes, self._name, self._inputs, self._outputs)

    def model(self, *domains: str) -> onnx.ModelProto:
        """The finished model, checked; `domains` are those of ops beside the default one, at version 1 (3 for ai.onnx.ml)."""
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._weights)
        versions = {"ai.onnx.ml": 3}
        opsets = [helper.make_opsetid("", self._opset), *(helper.make_opsetid(name, versions.get(name, 1)) for name in domains)]
        model = helper.make_model(graph, producer_name="dlc", ir_version=_IR_VERSION, opset_imports=opsets)
        onnx.checker.check_model(model)
        return model


def batch_dim(batch: int, dynamic: bool) -> int | str:
    """The batch dim of inputs and outputs."""
    return "batch" if dynamic else batch
