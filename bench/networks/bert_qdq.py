"""BERT's encoder quantised after training: what is multiplied is ui8 or, for weights, i8; norms, softmax and GELU are f32."""

from __future__ import annotations

import numpy as np
import onnx

from bench.networks.quantized import QuantizedBuilder, linear
from bench.networks.transformer import Sizes, gelu, layer_norm

_SCALE, _SCORE = 0.04, 1 / 255
"""Scales of activations, and of what softmax gives."""


def build(batch: int = 1, seq: int = 128, layers: int = 12, hidden: int = 768, heads: int = 12, seed: int = 0) -> onnx.ModelProto:
    """f32 `embedded` [N, seq, hidden] to f32 `hidden` [N, seq, hidden]."""
    g = QuantizedBuilder("bert_qdq", seed)
    sizes = Sizes(layers, hidden, heads, 4 * hidden)
    x = g.input("embedded", (batch, seq, hidden))
    split, merge = g.integers(batch, seq, heads, sizes.head), g.integers(batch, seq, hidden)
    for index in range(layers):
        with g.scope(f"layer{index}"):
            x = _layer(g, x, sizes, split, merge)
    g.output("hidden", x, (batch, seq, hidden))
    return g.model()


def _layer(g: QuantizedBuilder, x: str, sizes: Sizes, split: str, merge: str) -> str:
    with g.scope("attention"):
        x = layer_norm(g, g.op("Add", _attention(g, x, sizes, split, merge), x), sizes.hidden)
    with g.scope("mlp"):
        inner = gelu(g, linear(g, g.activation(x, _SCALE), sizes.hidden, sizes.inner, gain=2.0))
        outer = linear(g, g.activation(inner, _SCALE, 16), sizes.inner, sizes.hidden)
        return layer_norm(g, g.op("Add", outer, x), sizes.hidden)


def _attention(g: QuantizedBuilder, x: str, sizes: Sizes, split: str, merge: str) -> str:
    given = g.activation(x, _SCALE)
    parts = {}
    for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        with g.scope(name):
            projected = g.op("Reshape", linear(g, given, sizes.hidden, sizes.hidden), split)
            parts[name] = g.activation(g.op("Transpose", projected, perm=order), _SCALE)
    scores = g.op("Div", g.op("MatMul", parts["query"], parts["key"]), g.constant(np.sqrt(sizes.head)))
    weights = g.activation(g.op("Softmax", scores, axis=-1), _SCORE, 0)
    context = g.op("MatMul", weights, parts["value"])
    with g.scope("output"):
        merged = g.op("Reshape", g.op("Transpose", context, perm=[0, 2, 1, 3]), merge)
        return linear(g, g.activation(merged, _SCALE), sizes.hidden, sizes.hidden)
