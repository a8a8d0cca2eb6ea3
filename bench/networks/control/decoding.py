"""Decode loops of language models: greedy and beam search, with a KV cache that grows by a row each step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder
from bench.networks.transformer import Sizes, layer_norm, linear, tanh_gelu

_OPSET = 17


@dataclass(frozen=True)
class _Decoder:
    """A decoder's weights, shared by all bodies that run it: `words` [vocab, hidden], `places` [context, hidden]."""

    sizes: Sizes
    words: str
    places: str

    @staticmethod
    def of(g: GraphBuilder, sizes: Sizes, vocab: int, context: int) -> _Decoder:
        words = g.normal("words", (vocab, sizes.hidden), 0.5)
        return _Decoder(sizes, words, g.normal("places", (context, sizes.hidden), 0.5))

    def step(self, g: GraphBuilder, token: str, number: str, caches: list[str]) -> tuple[str, list[str]]:
        """f32 logits [N, vocab] of the i64 tokens [N, 1] at position `number` [1], and the caches [N, heads, past + 1, head]."""
        x = g.op("Add", g.op("Gather", self.words, token, axis=0), g.op("Gather", self.places, number, axis=0))
        present: list[str] = []
        for index in range(self.sizes.layers):
            with g.scope(f"block{index}"):
                x, new = self._block(g, x, caches[2 * index : 2 * index + 2])
            present += new
        with g.scope("head"):
            x = g.op("Squeeze", layer_norm(g, x, self.sizes.hidden), g.integers(1))
            scores = g.op("MatMul", x, g.op("Transpose", self.words, perm=[1, 0]))
        return scores, present

    def _block(self, g: GraphBuilder, x: str, past: list[str]) -> tuple[str, list[str]]:
        sizes = self.sizes
        with g.scope("attention"):
            projected = linear(g, layer_norm(g, x, sizes.hidden), sizes.hidden, 3 * sizes.hidden)
            query, *new = (
                self._heads(g, part) for part in g.ops("Split", projected, g.integers(*[sizes.hidden] * 3), outputs=3, axis=2)
            )
            present = [g.op("Concat", cache, rows, axis=2) for cache, rows in zip(past, new, strict=True)]
            scores = g.op("MatMul", query, g.op("Transpose", present[0], perm=[0, 1, 3, 2]))
            shares = g.op("Softmax", g.op("Div", scores, g.constant(math.sqrt(sizes.head))), axis=-1)
            context = g.op("Transpose", g.op("MatMul", shares, present[1]), perm=[0, 2, 1, 3])
            x = g.op("Add", x, linear(g, g.op("Reshape", context, g.integers(0, 1, sizes.hidden)), sizes.hidden, sizes.hidden))
        with g.scope("mlp"):
            inner = tanh_gelu(g, linear(g, layer_norm(g, x, sizes.hidden), sizes.hidden, sizes.inner))
            return g.op("Add", x, linear(g, inner, sizes.inner, sizes.hidden)), present

    def _heads(self, g: GraphBuilder, part: str) -> str:
        return g.op("Reshape", part, g.integers(0, self.sizes.heads, 1, self.sizes.head))

    def empty_caches(self, g: GraphBuilder, batch: int) -> list[str]:
        shape = (batch, self.sizes.heads, 0, self.sizes.head)
        return [g.constant(np.zeros(shape), name="empty") for _ in range(2 * self.sizes.layers)]

    def declare(self, body: GraphBuilder, batch: int) -> list[str]:
        """The caches as inputs of a body."""
        names = [f"{kind}{index}" for index in range(self.sizes.layers) for kind in ("key", "value")]
        return [body.input(f"{name}_past", (batch, self.sizes.heads, "past", self.sizes.head)) for name in names]

    def give(self, body: GraphBuilder, batch: int, present: list[str]) -> None:
        for index, value in enumerate(present):
            body.output(f"cache{index}_present", value, (batch, self.sizes.heads, "total", self.sizes.head))


def _begin(body: GraphBuilder) -> str:
    """The number of the step as [1]."""
    number = body.input("step", (), TensorProto.INT64)
    body.input("going", (), TensorProto.BOOL)
    return body.op("Unsqueeze", number, body.integers(0))


def greedy(
    steps: int = 48, layers: int = 2, hidden: int = 256, heads: int = 4, vocab: int = 2000, seed: int = 0
) -> onnx.ModelProto:
    """i64 `start` [1, 1] to `tokens` [n, 1, 1], the likeliest one of each step, until the end token or `steps`.

    The end token is the last of the vocabulary.
    """
    g = GraphBuilder("greedy_decode", seed, _OPSET)
    decoder = _Decoder.of(g, Sizes(layers, hidden, heads, 4 * hidden), vocab, steps)
    start = g.input("start", (1, 1), TensorProto.INT64)
    with g.body("decode") as body:
        number = _begin(body)
        token = body.input("token", (1, 1), TensorProto.INT64)
        scores, present = decoder.step(body, token, number, decoder.declare(body, 1))
        following = body.op("ArgMax", scores, axis=-1, keepdims=1)
        ended = body.op("Equal", body.op("Squeeze", following, body.integers(0, 1)), body.constant(vocab - 1, np.int64))
        body.output("more", body.op("Not", ended), (), TensorProto.BOOL)
        body.output("following", following, (1, 1), TensorProto.INT64)
        decoder.give(body, 1, present)
        body.output("token_kept", following, (1, 1), TensorProto.INT64)
    carried = [start, *decoder.empty_caches(g, 1)]
    limit, going = g.constant(steps, np.int64), g.constant(True, np.bool_)
    *_, tokens = g.ops("Loop", limit, going, *carried, outputs=len(carried) + 1, body=body.graph())
    g.output("tokens", tokens, ("n", 1, 1), TensorProto.INT64)
    return g.model()


def beam(
    beams: int = 4, steps: int = 32, layers: int = 2, hidden: int = 256, heads: int = 4, vocab: int = 2000, seed: int = 0
) -> onnx.ModelProto:
    """i64 `start` [beams, 1] to `tokens` [beams, steps + 1] of the best sequences and f32 `scores` [beams], best first.

    Each step ranks all continuations of all beams by TopK, and takes tokens and caches of the beams that they continue.
    """
    g = GraphBuilder("beam_search", seed, _OPSET)
    decoder = _Decoder.of(g, Sizes(layers, hidden, heads, 4 * hidden), vocab, steps)
    start = g.input("start", (beams, 1), TensorProto.INT64)
    with g.body("search") as body:
        number = _begin(body)
        tokens = body.input("sequences", (beams, "length"), TensorProto.INT64)
        best = body.input("best", (beams, 1))
        caches = decoder.declare(body, beams)
        token = body.op("Slice", tokens, body.integers(-1), body.integers(np.iinfo(np.int64).max), body.integers(1))
        scores, present = decoder.step(body, token, number, caches)
        total = body.op("Add", body.op("LogSoftmax", scores, axis=-1), best)
        values, places = body.ops("TopK", body.op("Reshape", total, body.integers(-1)), body.integers(beams), outputs=2, axis=0)
        width = body.constant(vocab, np.int64)
        parent, chosen = body.op("Div", places, width), body.op("Mod", places, width)
        kept = body.op("Gather", tokens, parent, axis=0)
        sequences = body.op("Concat", kept, body.op("Unsqueeze", chosen, body.integers(1)), axis=1)
        body.output("more", body.constant(True, np.bool_), (), TensorProto.BOOL)
        body.output("sequences_out", sequences, (beams, "longer"), TensorProto.INT64)
        body.output("best_out", body.op("Unsqueeze", values, body.integers(1)), (beams, 1))
        decoder.give(body, beams, [body.op("Gather", cache, parent, axis=0) for cache in present])
    first = g.constant([[0.0]] + [[-1e9]] * (beams - 1), name="first")
    carried = [start, first, *decoder.empty_caches(g, beams)]
    sequences, scores, *_ = g.ops("Loop", g.constant(steps, np.int64), "", *carried, outputs=len(carried), body=body.graph())
    g.output("tokens", sequences, (beams, "length"), TensorProto.INT64)
    g.output("scores", g.op("Squeeze", scores, g.integers(1)), (beams,))
    return g.model()
