"""BERT encoder (Devlin et al. 2018) with pooler; the defaults are the base size."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.transformer import Mask, Sizes, feed_forward, layer_norm, linear, padding_mask, self_attention

_TYPES = 2


def build(
    batch: int = 1,
    seq: int = 128,
    layers: int = 12,
    hidden: int = 768,
    heads: int = 12,
    vocab: int = 30522,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """i64 `input_ids`, `attention_mask`, `token_type_ids` [N, seq] to f32 `hidden` [N, seq, hidden] and `pooled` [N, hidden]."""
    g = GraphBuilder("bert", seed)
    sizes = Sizes(layers, hidden, heads, 4 * hidden)
    n = batch_dim(batch, dynamic_batch)
    ids, keep, types = (g.input(name, (n, seq), TensorProto.INT64) for name in ("input_ids", "attention_mask", "token_type_ids"))
    rows = 0 if dynamic_batch else batch  # 0 in a Reshape target copies the dim of the input
    with g.scope("embeddings"):
        x = _embed(g, ids, types, seq, vocab, hidden)
        mask = padding_mask(g, keep)
        split, merge = g.integers(rows, seq, heads, sizes.head), g.integers(rows, seq, hidden)
    for index in range(layers):
        with g.scope(f"layer{index}"):
            x = _layer(g, x, sizes, split, merge, mask)
    with g.scope("pooler"):
        first = g.op("Gather", x, g.constant(0, np.int64, "first"), axis=1)
        pooled = g.op("Tanh", linear(g, first, hidden, hidden))
    g.output("hidden", x, (n, seq, hidden))
    g.output("pooled", pooled, (n, hidden))
    return g.model()


def _embed(g: GraphBuilder, ids: str, types: str, seq: int, vocab: int, hidden: int) -> str:
    words = g.op("Gather", g.normal("words", (vocab, hidden), 0.5), ids, axis=0)
    kinds = g.op("Gather", g.normal("types", (_TYPES, hidden), 0.5), types, axis=0)
    places = g.op("Gather", g.normal("places", (max(512, seq), hidden), 0.5), g.integers(*range(seq)), axis=0)
    return layer_norm(g, g.op("Add", g.op("Add", words, kinds), places), hidden, epsilon=1e-12)


def _layer(g: GraphBuilder, x: str, sizes: Sizes, split: str, merge: str, mask: Mask) -> str:
    """Attention and feed-forward, each with the norm after the residual."""
    with g.scope("attention"):
        attended = self_attention(g, x, sizes, split, merge, mask)
        x = layer_norm(g, g.op("Add", attended, x), sizes.hidden, epsilon=1e-12)
    with g.scope("mlp"):
        return layer_norm(g, g.op("Add", feed_forward(g, x, sizes), x), sizes.hidden, epsilon=1e-12)
