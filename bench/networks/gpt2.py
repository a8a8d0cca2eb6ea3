"""GPT-2 decoder without a cache (Radford et al. 2019), as exporters before opset 17 wrote it; the defaults are the small size."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.transformer import Mask, Sizes, attend, decomposed_layer_norm, tanh_gelu, target_shape

_MASKED = float(np.finfo(np.float32).min)


def build(
    batch: int = 1,
    seq: int = 128,
    layers: int = 12,
    hidden: int = 768,
    heads: int = 12,
    vocab: int = 50257,
    context: int = 1024,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """i64 `input_ids` [N, seq] to f32 `logits` [N, seq, vocab]. A dynamic batch is read from shapes at run time."""
    g = GraphBuilder("gpt2", seed)
    sizes = Sizes(layers, hidden, heads, 4 * hidden)
    n = batch_dim(batch, dynamic_batch)
    rows = None if dynamic_batch else batch
    ids = g.input("input_ids", (n, seq), TensorProto.INT64)
    words = g.normal("words", (vocab, hidden), 0.5)
    with g.scope("embeddings"):
        places = g.op("Gather", g.normal("places", (context, hidden), 0.5), g.constant([range(seq)], np.int64), axis=0)
        x = g.op("Add", g.op("Gather", words, ids, axis=0), places)
        mask = _causal(g, seq, context)
    for index in range(layers):
        with g.scope(f"block{index}"):
            x = _block(g, x, sizes, rows, seq, mask)
    with g.scope("head"):
        x = decomposed_layer_norm(g, x, hidden)
        scaled = g.op("Mul", x, g.constant(hidden**-0.5))
        logits = g.op("MatMul", scaled, g.op("Transpose", words, perm=[1, 0]))
    g.output("logits", logits, (n, seq, vocab))
    return g.model()


def _causal(g: GraphBuilder, seq: int, context: int) -> Mask:
    """Keeps what the corner [1, 1, seq, seq] of a lower triangle of the context's size shows."""
    triangle = g.constant(np.tril(np.ones((1, 1, context, context))), np.bool_, "causal")
    visible = g.op("Slice", triangle, g.integers(0, 0), g.integers(seq, seq), g.integers(2, 3), g.integers(1, 1))
    return lambda scores: g.op("Where", visible, scores, g.constant(_MASKED))


def _block(g: GraphBuilder, x: str, sizes: Sizes, rows: int | None, seq: int, mask: Mask) -> str:
    """Attention and feed-forward, each with the norm before it, inside the residual."""
    with g.scope("attention"):
        normed = decomposed_layer_norm(g, x, sizes.hidden)
        x = g.op("Add", x, _attention(g, normed, sizes, rows, seq, mask))
    with g.scope("mlp"):
        normed = decomposed_layer_norm(g, x, sizes.hidden)
        inner = tanh_gelu(g, _conv1d(g, normed, sizes.hidden, sizes.inner, rows, seq))
        return g.op("Add", x, _conv1d(g, inner, sizes.inner, sizes.hidden, rows, seq))


def _attention(g: GraphBuilder, x: str, sizes: Sizes, rows: int | None, seq: int, mask: Mask) -> str:
    hidden = sizes.hidden
    projected = _conv1d(g, x, hidden, 3 * hidden, rows, seq)
    parts = g.ops("Split", projected, g.integers(hidden, hidden, hidden), outputs=3, axis=2)
    query, key, value = (
        g.op("Transpose", g.op("Reshape", part, target_shape(g, part, (rows, seq, sizes.heads, sizes.head))), perm=order)
        for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    context = attend(g, query, key, value, sizes.head, mask)
    merged = g.op("Transpose", context, perm=[0, 2, 1, 3])
    merged = g.op("Reshape", merged, target_shape(g, merged, (rows, seq, hidden)))
    return _conv1d(g, merged, hidden, hidden, rows, seq)


def _conv1d(g: GraphBuilder, x: str, inputs: int, outputs: int, rows: int | None, seq: int) -> str:
    """GPT-2's linear layer: all rows in one Gemm, between two Reshapes."""
    flat = g.op("Reshape", x, g.integers(-1, inputs))
    weight, bias = g.matrix("weight", (inputs, outputs), inputs), g.normal("bias", (outputs,), 0.02)
    product = g.op("Gemm", flat, weight, bias, alpha=1.0, beta=1.0)
    return g.op("Reshape", product, target_shape(g, x, (rows, seq, outputs)))
