"""Models of one node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder

F32 = 4
"""Bytes of a number."""

DTYPES: Mapping[str, type[np.generic]] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "u8": np.uint8,
    "bool": np.bool_,
}
ELEMENTS: Mapping[str, int] = {
    "f64": TensorProto.DOUBLE,
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "i64": TensorProto.INT64,
    "i32": TensorProto.INT32,
    "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
}


@dataclass(frozen=True)
class Tensor:
    """An input or a result: its shape, and its dtype by a name of `DTYPES`."""

    shape: tuple[int, ...]
    dtype: str = "f32"


Operand = Tensor | np.ndarray | np.generic | None
"""An input, a constant, or nothing."""


def matmul(m: int, n: int, k: int) -> onnx.ModelProto:
    """f32 `x` [m, k] times a constant [k, n]."""
    g = GraphBuilder("matmul", 0)
    x = g.input("x", (m, k))
    g.output("y", g.op("MatMul", x, g.matrix("weight", (k, n), k)), (m, n))
    return g.model()


def product(batch: Sequence[int], m: int, n: int, k: int, is_transposed: bool, dtype: str = "f32") -> onnx.ModelProto:
    """`x` [batch..., m, k] times `w` [batch..., k, n], or [batch..., n, k] transposed; both are inputs of `dtype`."""
    g = GraphBuilder("product", 0)
    axes = range(len(batch) + 2)
    element = ELEMENTS[dtype]
    x, w = g.input("x", (*batch, m, k), element), g.input("w", (*batch, n, k) if is_transposed else (*batch, k, n), element)
    right = g.op("Transpose", w, perm=[*axes[:-2], axes[-1], axes[-2]]) if is_transposed else w
    g.output("y", g.op("MatMul", x, right), (*batch, m, n), element)
    return g.model()


def conv(x: Sequence[int], weight: Sequence[int], y: Sequence[int], attributes: Mapping[str, Any]) -> onnx.ModelProto:
    """f32 `x` [N, C, H, W] to `y` [N, M, OH, OW], with a constant kernel and bias."""
    g = GraphBuilder("conv", 0)
    image = g.input("x", x)
    kernel, bias = g.matrix("weight", weight, math.prod(weight[1:])), g.normal("bias", (weight[0],), 0.1)
    g.output("y", g.op("Conv", image, kernel, bias, **attributes), y)
    return g.model()


def conv_transpose(x: Sequence[int], weight: Sequence[int], y: Sequence[int], attributes: Mapping[str, Any]) -> onnx.ModelProto:
    """f32 `x` [N, C, H, W] to `y` [N, M, OH, OW], with a constant kernel [C, M / group, ...] and bias."""
    g = GraphBuilder("conv_transpose", 0)
    image = g.input("x", x)
    kernel, bias = g.matrix("weight", weight, math.prod(weight) // weight[1]), g.normal("bias", (y[1],), 0.1)
    g.output("y", g.op("ConvTranspose", image, kernel, bias, **attributes), y)
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


def group_norm(shape: Sequence[int], groups: int) -> onnx.ModelProto:
    """Norms of groups of channels of `shape` [N, C, H, W], as exporters write it."""
    g = GraphBuilder("group_norm", 0)
    ones, zeros = g.constant(np.ones(groups)), g.constant(np.zeros(groups))
    parts = g.op("Reshape", g.input("x", shape), g.integers(0, groups, -1))
    normed = g.op("Reshape", g.op("InstanceNormalization", parts, ones, zeros), g.integers(*shape))
    scale, bias = (g.normal(name, (shape[1], 1, 1), 0.1, mean) for name, mean in (("scale", 1.0), ("bias", 0.0)))
    g.output("y", g.op("Add", g.op("Mul", normed, scale), bias), shape)
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


def node(kind: str, operands: Sequence[Operand], results: Sequence[Tensor], **attributes: Any) -> onnx.ModelProto:
    """One op on graph inputs and constants."""
    g = GraphBuilder(kind, 0, opset=_NEWEST)
    given = [_operand(g, index, operand) for index, operand in enumerate(operands)]
    for index, (value, result) in enumerate(zip(g.ops(kind, *given, outputs=len(results), **attributes), results, strict=True)):
        g.output(f"y{index}", value, result.shape, ELEMENTS[result.dtype])
    return g.model()


def _operand(g: GraphBuilder, index: int, operand: Operand) -> str:
    if operand is None:
        return ""
    if isinstance(operand, Tensor):
        return g.input(f"x{index}", operand.shape, ELEMENTS[operand.dtype])
    return g.constant(operand, operand.dtype)


def attention(heads: int, queries: int, keys: int, width: int, dtype: str = "f32") -> onnx.ModelProto:
    """softmax(q k^T / sqrt(width)) v for [1, heads, positions, width] of `dtype`, as exporters write it."""
    g = GraphBuilder("attention", 0)
    element = ELEMENTS[dtype]
    q = g.input("q", (1, heads, queries, width), element)
    k, v = (g.input(name, (1, heads, keys, width), element) for name in ("k", "v"))
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scale = g.constant(1 / math.sqrt(width))
    weights = g.op("Softmax", g.op("Mul", scores, scale if dtype == "f32" else g.op("Cast", scale, to=element)), axis=-1)
    g.output("y", g.op("MatMul", weights, v), (1, heads, queries, width), element)
    return g.model()


def bytes_of(value: Operand) -> int:
    """Bytes of an operand or a result."""
    if isinstance(value, Tensor):
        return math.prod(value.shape) * np.dtype(DTYPES[value.dtype]).itemsize
    return 0 if value is None else value.nbytes


def identity() -> onnx.ModelProto:
    """One number, negated: what a call costs that computes nothing."""
    return unary("Neg", (1,))


def size_of(*shapes: Sequence[int]) -> float:
    """Bytes of f32 tensors."""
    return float(F32 * sum(int(np.prod(shape)) for shape in shapes))


_NEWEST = 20
"""The first opset with Gelu."""
