"""Layers that transformers share, in the spellings that exporters write."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from bench.networks.builder import GraphBuilder

Mask = Callable[[str], str]
"""Takes attention scores [N, heads, S, S] and returns them masked."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of an encoder or decoder; heads divide `hidden`."""

    layers: int
    hidden: int
    heads: int
    inner: int

    @property
    def head(self) -> int:
        return self.hidden // self.heads


def linear(g: GraphBuilder, x: str, inputs: int, outputs: int, gain: float = 1.0) -> str:
    """`x @ weight + bias` over the last dim."""
    product = g.op("MatMul", x, g.matrix("weight", (inputs, outputs), inputs, gain))
    return g.op("Add", product, g.normal("bias", (outputs,), 0.02))


def layer_norm(g: GraphBuilder, x: str, hidden: int, epsilon: float = 1e-5) -> str:
    """The op of opset 17."""
    weight, bias = _affine(g, hidden)
    return g.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)


def decomposed_layer_norm(g: GraphBuilder, x: str, hidden: int, epsilon: float = 1e-5) -> str:
    """The nodes that exporters before opset 17 wrote."""
    centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[-1], keepdims=1))
    square = g.op("Pow", centred, g.constant(2.0))
    variance = g.op("ReduceMean", square, axes=[-1], keepdims=1)
    deviation = g.op("Sqrt", g.op("Add", variance, g.constant(epsilon)))
    weight, bias = _affine(g, hidden)
    return g.op("Add", g.op("Mul", g.op("Div", centred, deviation), weight), bias)


def _affine(g: GraphBuilder, hidden: int) -> tuple[str, str]:
    return g.normal("gamma", (hidden,), 0.1, mean=1.0), g.normal("beta", (hidden,), 0.1)


def gelu(g: GraphBuilder, x: str) -> str:
    """`x / 2 * (1 + erf(x / sqrt(2)))`."""
    error = g.op("Erf", g.op("Div", x, g.constant(math.sqrt(2.0))))
    return g.op("Mul", g.op("Mul", x, g.op("Add", error, g.constant(1.0))), g.constant(0.5))


def tanh_gelu(g: GraphBuilder, x: str) -> str:
    """`x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`."""
    cubic = g.op("Mul", g.op("Pow", x, g.constant(3.0)), g.constant(0.044715))
    inner = g.op("Mul", g.op("Add", x, cubic), g.constant(math.sqrt(2.0 / math.pi)))
    return g.op("Mul", g.op("Mul", x, g.constant(0.5)), g.op("Add", g.op("Tanh", inner), g.constant(1.0)))


def attend(g: GraphBuilder, query: str, key: str, value: str, head: int, mask: Mask | None = None) -> str:
    """Scaled dot-product attention: query and value [N, heads, S, head], key transposed to [N, heads, head, S]."""
    scores = g.op("Div", g.op("MatMul", query, key), g.constant(math.sqrt(head)))
    if mask:
        scores = mask(scores)
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), value)


def self_attention(g: GraphBuilder, x: str, sizes: Sizes, split: str, merge: str, mask: Mask | None = None) -> str:
    """Attention with projections; `split` and `merge` are Reshape targets [N, S, heads, head] and [N, S, hidden]."""
    heads = {}
    for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        with g.scope(name):
            projected = g.op("Reshape", linear(g, x, sizes.hidden, sizes.hidden), split)
            heads[name] = g.op("Transpose", projected, perm=order)
    context = attend(g, heads["query"], heads["key"], heads["value"], sizes.head, mask)
    with g.scope("output"):
        merged = g.op("Reshape", g.op("Transpose", context, perm=[0, 2, 1, 3]), merge)
        return linear(g, merged, sizes.hidden, sizes.hidden)


def feed_forward(g: GraphBuilder, x: str, sizes: Sizes) -> str:
    """Two linear layers with a GELU between."""
    with g.scope("up"):
        inner = gelu(g, linear(g, x, sizes.hidden, sizes.inner, gain=2.0))
    with g.scope("down"):
        return linear(g, inner, sizes.inner, sizes.hidden)


def dim_of(g: GraphBuilder, x: str, axis: int) -> str:
    """i64 vector of the size of one dim: Shape, Gather, Unsqueeze, as exporters write it."""
    size = g.op("Gather", g.op("Shape", x), g.constant(axis, np.int64, "axis"), axis=0)
    return g.op("Unsqueeze", size, g.integers(0))


def target_shape(g: GraphBuilder, x: str, dims: Sequence[int | None]) -> str:
    """i64 vector for Reshape or Expand; None stands for the dim of `x` at that place, read at run time."""
    parts = [dim_of(g, x, axis) if dim is None else g.integers(dim) for axis, dim in enumerate(dims)]
    return g.op("Concat", *parts, axis=0)


def padding_mask(g: GraphBuilder, keep: str) -> Mask:
    """Mask by i64 `keep` [N, S] of 1 and 0: adds -10000 where it is 0."""
    wide = g.op("Unsqueeze", keep, g.integers(1, 2))
    numbers = g.op("Cast", wide, to=TensorProto.FLOAT)
    penalty = g.op("Mul", g.op("Sub", g.constant(1.0), numbers), g.constant(-10000.0))
    return lambda scores: g.op("Add", scores, penalty)
