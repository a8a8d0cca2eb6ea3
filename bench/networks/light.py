"""The light_* networks of the onnx package: real graphs of 2012 to 2017, their large weights made of one repeated number."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def names() -> list[str]:
    """Names of the networks, as `squeezenet`."""
    return sorted(file.stem.removeprefix("light_") for file in FOLDER.glob("light_*.onnx"))


def load(name: str) -> onnx.ModelProto:
    """A network with the package's weights."""
    return onnx.load(FOLDER / f"light_{name}.onnx")


def seeded(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """The network with a random initializer in place of every repeated number and every float initializer.

    Tensors with a fan-in are He-scaled; vectors are near zero where they are added, and around 0.4 where they scale or are a
    variance: residual sums then stay small enough for the last softmax.
    """
    random = np.random.default_rng(seed)
    copy = _copy(model)
    graph = copy.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    added = _added_vectors(graph)
    made = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    wanted = {node.output[0]: tuple(int(dim) for dim in shapes[node.input[0]]) for node in made}
    wanted |= {name: array.shape for name, array in shapes.items() if array.dtype.kind == "f"}
    kept = [tensor for tensor in graph.initializer if tensor.name not in wanted]
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    del graph.initializer[:], graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    graph.initializer.extend(
        numpy_helper.from_array(_weights(random, shape, name in added), name) for name, shape in wanted.items()
    )
    return copy


def _weights(random: np.random.Generator, shape: tuple[int, ...], added: bool) -> np.ndarray:
    fan_in = math.prod(shape[1:])
    if len(shape) > 1 and fan_in > 1:
        return random.standard_normal(shape, np.float32) * np.float32(math.sqrt(2 / fan_in))
    if added:
        return random.standard_normal(shape, np.float32) * np.float32(0.1)
    return random.uniform(0.2, 0.6, shape).astype(np.float32)


def _added_vectors(graph: onnx.GraphProto) -> set[str]:
    """Names of biases and means: what Conv, Gemm and Add add and BatchNormalization adds or subtracts."""
    places = {"Conv": (2,), "Gemm": (2,), "BatchNormalization": (2, 3), "Add": (0, 1), "Sum": (0, 1)}
    added = {node.input[at] for node in graph.node for at in places.get(node.op_type, ()) if at < len(node.input)}
    added |= {node.input[0] for node in graph.node if node.op_type == "Unsqueeze" and node.output[0] in added}
    return added


def rebatch(model: onnx.ModelProto, batch: int) -> onnx.ModelProto:
    """The network for another batch: set in its inputs and outputs and in constant Reshape targets that begin with the old one."""
    copy = _copy(model)
    graph = copy.graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [entry for entry in graph.input if entry.name not in weights]
    old = inputs[0].type.tensor_type.shape.dim[0].dim_value
    computed = {entry.name for entry in inputs}
    targets = set()
    for node in graph.node:
        if computed.intersection(node.input):
            computed.update(node.output)
            if node.op_type == "Reshape":
                targets.add(node.input[1])
    for entry in (*inputs, *graph.output):
        entry.type.tensor_type.shape.dim[0].dim_value = batch
    for tensor in graph.initializer:
        if tensor.name in targets:
            shape = numpy_helper.to_array(tensor).copy()
            if shape[0] == old:
                shape[0] = batch
                tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))
    return copy


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy
