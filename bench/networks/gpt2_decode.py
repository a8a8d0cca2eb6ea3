"""One decoding step of GPT-2 with a KV cache (Radford et al. 2019); the defaults are the small size."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.transformer import Sizes, layer_norm, linear, tanh_gelu

Form = Literal["static", "growing"]

_OPSET = 24
"""The first one with TensorScatter."""
_MASKED = float(np.finfo(np.float32).min)


def build(
    batch: int = 1,
    length: int = 1024,
    layers: int = 12,
    hidden: int = 768,
    heads: int = 12,
    vocab: int = 50257,
    context: int = 1024,
    form: Form = "static",
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """i64 `input_ids` [N, 1] and `position` to f32 `logits` [N, 1, vocab] and the caches `key<i>_out`, `value<i>_out`.

    Caches are f32 [N, heads, length, head]. In the static form a step writes the row `position`, i64 [N], of each and attends
    up to it: TensorScatter, to be done in place. In the growing form `position` is i64 [1], `past` is a dynamic dim, and the
    new row is appended by Concat.
    """
    g = GraphBuilder(f"gpt2_decode_{form}", seed, _OPSET)
    sizes = Sizes(layers, hidden, heads, 4 * hidden)
    n = batch_dim(batch, dynamic_batch)
    grows = form == "growing"
    ids = g.input("input_ids", (n, 1), TensorProto.INT64)
    position = g.input("position", (1,) if grows else (n,), TensorProto.INT64)
    words = g.normal("words", (vocab, hidden), 0.5)
    with g.scope("embeddings"):
        place = g.op("Gather", g.normal("places", (context, hidden), 0.5), position, axis=0)
        x = g.op("Add", g.op("Gather", words, ids, axis=0), g.op("Unsqueeze", place, g.integers(0 if grows else 1)))
        visible = "" if grows else _visible(g, position, length)
    caches: list[tuple[str, str]] = []
    for index in range(layers):
        past = [g.input(f"{kind}{index}", (n, heads, "past" if grows else length, sizes.head)) for kind in ("key", "value")]
        with g.scope(f"block{index}"):
            x, present = _block(g, x, sizes, past, position, visible)
        caches += [(f"{kind}{index}_out", value) for kind, value in zip(("key", "value"), present, strict=True)]
    with g.scope("head"):
        x = layer_norm(g, x, hidden)
        logits = g.op("MatMul", g.op("Mul", x, g.constant(hidden**-0.5)), g.op("Transpose", words, perm=[1, 0]))
    g.output("logits", logits, (n, 1, vocab))
    for name, value in caches:
        g.output(name, value, (n, heads, "total" if grows else length, sizes.head))
    return g.model()


def _visible(g: GraphBuilder, position: str, length: int) -> str:
    """[N, 1, 1, length]: whether a row of the cache is written by now."""
    return g.op("LessOrEqual", g.integers(*range(length)), g.op("Unsqueeze", position, g.integers(1, 2, 3)))


def _block(g: GraphBuilder, x: str, sizes: Sizes, past: list[str], position: str, visible: str) -> tuple[str, list[str]]:
    """Attention and feed-forward with the norms before them; also the caches with the new rows."""
    with g.scope("attention"):
        normed = layer_norm(g, x, sizes.hidden)
        projected = linear(g, normed, sizes.hidden, 3 * sizes.hidden)
        parts = g.ops("Split", projected, g.integers(*[sizes.hidden] * 3), outputs=3, axis=2)
        query, *new = (_heads(g, part, sizes) for part in parts)
        present = [_extended(g, cache, rows, position if visible else "") for cache, rows in zip(past, new, strict=True)]
        scores = g.op("MatMul", query, g.op("Transpose", present[0], perm=[0, 1, 3, 2]))
        scores = g.op("Div", scores, g.constant(math.sqrt(sizes.head)))
        if visible:
            scores = g.op("Where", visible, scores, g.constant(_MASKED))
        context = g.op("MatMul", g.op("Softmax", scores, axis=-1), present[1])
        merged = g.op("Reshape", g.op("Transpose", context, perm=[0, 2, 1, 3]), g.integers(0, 1, sizes.hidden))
        x = g.op("Add", x, linear(g, merged, sizes.hidden, sizes.hidden))
    with g.scope("mlp"):
        inner = tanh_gelu(g, linear(g, layer_norm(g, x, sizes.hidden), sizes.hidden, sizes.inner))
        return g.op("Add", x, linear(g, inner, sizes.inner, sizes.hidden)), present


def _heads(g: GraphBuilder, part: str, sizes: Sizes) -> str:
    """[N, 1, hidden] as [N, heads, 1, head]: with one position the order of axes is a matter of shape."""
    return g.op("Reshape", part, g.integers(0, sizes.heads, 1, sizes.head))


def _extended(g: GraphBuilder, cache: str, rows: str, position: str) -> str:
    """The cache with new rows: written at `position`, or appended where there is none."""
    return g.op("TensorScatter", cache, rows, position, axis=2) if position else g.op("Concat", cache, rows, axis=2)
