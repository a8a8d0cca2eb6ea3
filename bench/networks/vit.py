"""Vision transformer (Dosovitskiy et al. 2020); the defaults are ViT-Base/16 at 224 pixels."""

from __future__ import annotations

import numpy as np
import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.transformer import Sizes, feed_forward, layer_norm, self_attention, target_shape


def build(
    batch: int = 1,
    image: int = 224,
    patch: int = 16,
    layers: int = 12,
    hidden: int = 768,
    heads: int = 12,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]; `patch` divides `image`."""
    g = GraphBuilder("vit", seed)
    sizes = Sizes(layers, hidden, heads, 4 * hidden)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    tokens = (image // patch) ** 2 + 1
    rows = 0 if dynamic_batch else batch  # 0 in a Reshape target copies the dim of the input
    with g.scope("embeddings"):
        x = _embed(g, x, patch, hidden, tokens, None if dynamic_batch else batch)
        split, merge = g.integers(rows, tokens, heads, sizes.head), g.integers(rows, tokens, hidden)
    for index in range(layers):
        with g.scope(f"layer{index}"):
            x = _layer(g, x, sizes, split, merge)
    with g.scope("head"):
        first = g.op("Gather", layer_norm(g, x, hidden, 1e-6), g.constant(0, np.int64, "first"), axis=1)
        weight, bias = g.matrix("weight", (classes, hidden), hidden), g.normal("bias", (classes,), 0.02)
        logits = g.op("Gemm", first, weight, bias, transB=1)
    g.output("logits", logits, (n, classes))
    return g.model()


def _embed(g: GraphBuilder, image: str, patch: int, hidden: int, tokens: int, rows: int | None) -> str:
    """One token per patch behind the class token, plus positions."""
    weight, bias = g.matrix("weight", (hidden, 3, patch, patch), 3 * patch * patch), g.normal("bias", (hidden,), 0.02)
    patches = g.op("Conv", image, weight, bias, kernel_shape=[patch] * 2, strides=[patch] * 2)
    flat = g.op("Reshape", patches, g.integers(0, hidden, -1))
    sequence = g.op("Transpose", flat, perm=[0, 2, 1])
    token = g.op("Expand", g.normal("class", (1, 1, hidden), 0.5), target_shape(g, image, (rows, 1, hidden)))
    joined = g.op("Concat", token, sequence, axis=1)
    return g.op("Add", joined, g.normal("places", (1, tokens, hidden), 0.5))


def _layer(g: GraphBuilder, x: str, sizes: Sizes, split: str, merge: str) -> str:
    """Attention and feed-forward, each with the norm before it, inside the residual."""
    with g.scope("attention"):
        x = g.op("Add", self_attention(g, layer_norm(g, x, sizes.hidden, 1e-6), sizes, split, merge), x)
    with g.scope("mlp"):
        return g.op("Add", feed_forward(g, layer_norm(g, x, sizes.hidden, 1e-6), sizes), x)
