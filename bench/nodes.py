"""Models of one node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from bench.networks.builder import GraphBuilder

F32 = 4
"""Bytes of a number."""


def matmul(m: int, n: int, k: int) -> onnx.ModelProto:
    """f32 `x` [m, k] times a constant [k, n]."""
    g = GraphBuilder("matmul", 0)
    x = g.input("x", (m, k))
    g.output("y", g.op("MatMul", x, g.matrix("weight", (k, n), k)), (m, n))
    return g.model()


def conv(x: Sequence[int], weight: Sequence[int], y: Sequence[int], attributes: Mapping[str, Any]) -> onnx.ModelProto:
    """f32 `x` [N, C, H, W] to `y` [N, M, OH, OW], with a constant kernel and bias."""
    g = GraphBuilder("conv", 0)
    image = g.input("x", x)
    kernel, bias = g.matrix("weight", weight, math.prod(weight[1:])), g.normal("bias", (weight[0],), 0.1)
    g.output("y", g.op("Conv", image, kernel, bias, **attributes), y)
    return g.model()


def unary(kind: str, shape: Sequence[int], result: Sequence[int] | None = None, **attributes: Any) -> onnx.ModelProto:
    """f32 `x` through one op of one operand."""
    g = GraphBuilder(kind, 0, opset=_NEWEST)
    g.output("y", g.op(kind, g.input("x", shape), **attributes), result or shape)
    return g.model()


def silu(shape: Sequence[int]) -> onnx.ModelProto:
    """x * sigmoid(x), as exporters write it."""
    g = GraphBuilder("silu", 0)
    x = g.input("x", shape)
    g.output("y", g.op("Mul", x, g.op("Sigmoid", x)), shape)
    return g.model()


def add_relu(shape: Sequence[int]) -> onnx.ModelProto:
    """max(x + y, 0)."""
    g = GraphBuilder("add_relu", 0)
    g.output("z", g.op("Relu", g.op("Add", g.input("x", shape), g.input("y", shape))), shape)
    return g.model()


def layer_norm(rows: int, columns: int) -> onnx.ModelProto:
    """LayerNormalization over the last axis."""
    g = GraphBuilder("layer_norm", 0)
    scale, bias = g.normal("scale", (columns,), 0.1, mean=1.0), g.normal("bias", (columns,), 0.1)
    g.output("y", g.op("LayerNormalization", g.input("x", (rows, columns)), scale, bias, axis=-1), (rows, columns))
    return g.model()


def rms_norm(rows: int, columns: int) -> onnx.ModelProto:
    """x / sqrt(mean(x * x) + epsilon) * scale, as exporters write it."""
    g = GraphBuilder("rms_norm", 0)
    x = g.input("x", (rows, columns))
    mean = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1], keepdims=1)
    deviation = g.op("Sqrt", g.op("Add", mean, g.constant(1e-6)))
    scaled = g.op("Mul", g.op("Div", x, deviation), g.normal("scale", (columns,), 0.1, mean=1.0))
    g.output("y", scaled, (rows, columns))
    return g.model()


def reduce(kind: str, shape: Sequence[int], axes: Sequence[int]) -> onnx.ModelProto:
    """ReduceSum, ReduceMax or ReduceMean over `axes`, which go."""
    g = GraphBuilder(kind, 0, opset=_NEWEST)
    kept = [size for axis, size in enumerate(shape) if axis not in axes]
    g.output("y", g.op(kind, g.input("x", shape), g.integers(*axes), keepdims=0), kept)
    return g.model()


def transpose(shape: Sequence[int], order: Sequence[int]) -> onnx.ModelProto:
    """Axes in another order."""
    g = GraphBuilder("transpose", 0)
    g.output("y", g.op("Transpose", g.input("x", shape), perm=list(order)), [shape[axis] for axis in order])
    return g.model()


def identity() -> onnx.ModelProto:
    """One number, negated: what a call costs that computes nothing."""
    return unary("Neg", (1,))


def size_of(*shapes: Sequence[int]) -> float:
    """Bytes of f32 tensors."""
    return float(F32 * sum(int(np.prod(shape)) for shape in shapes))


_NEWEST = 20
"""The first opset with Gelu."""
