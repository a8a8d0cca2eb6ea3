"""What runs, or what is read, is chosen by data: early exits, masked tokens, experts."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder
from bench.networks.transformer import gelu, layer_norm, linear


def early_exit(batch: int = 1, stages: int = 3, hidden: int = 512, classes: int = 100, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [N, hidden] to `logits` [N, classes]: after each stage a head, which ends the network where it is sure enough.

    The limits lie so that random inputs pass the first exit and take the second one.
    """
    g = GraphBuilder("early_exit", seed)
    g.output("logits", _stage(g, g.input("x", (batch, hidden)), 0, stages, hidden, classes), (batch, classes))
    return g.model()


def _stage(g: GraphBuilder, x: str, index: int, stages: int, hidden: int, classes: int) -> str:
    with g.scope(f"stage{index}"):
        for layer in range(3):
            with g.scope(f"layer{layer}"):
                inner = gelu(g, linear(g, layer_norm(g, x, hidden), hidden, 2 * hidden))
                x = g.op("Add", x, linear(g, inner, 2 * hidden, hidden))
        logits = linear(g, x, hidden, classes)
        if index + 1 == stages:
            return logits
        sure = g.op("ReduceMin", g.op("ReduceMax", g.op("Softmax", logits, axis=-1), axes=[-1], keepdims=0), keepdims=0)
        limit = g.constant(1.1 if index == 0 else 0.0)
        with g.body("exit") as done:
            done.output("logits", logits, ("n", classes))
        with g.body("further") as further:
            further.output("logits", _stage(further, x, index + 1, stages, hidden, classes), ("n", classes))
        return g.op("If", g.op("Greater", sure, limit), then_branch=done.graph(), else_branch=further.graph())


def masked_tokens(tokens: int = 128, hidden: int = 256, vocab: int = 2000, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [1, tokens, hidden] and bool `mask` [1, tokens] to `logits` [n, vocab] of the masked tokens, by NonZero and GatherND.

    What is predicted goes back to the places of the masked tokens: `filled` [1, tokens, hidden].
    """
    g = GraphBuilder("masked_tokens", seed)
    x, mask = g.input("x", (1, tokens, hidden)), g.input("mask", (1, tokens), TensorProto.BOOL)
    places = g.op("Transpose", g.op("NonZero", mask), perm=[1, 0])
    chosen = g.op("GatherND", x, places)
    with g.scope("head"):
        state = layer_norm(g, gelu(g, linear(g, chosen, hidden, hidden)), hidden)
        logits = linear(g, state, hidden, vocab)
    g.output("logits", logits, ("n", vocab))
    g.output("filled", g.op("ScatterND", x, places, state), (1, tokens, hidden))
    return g.model()


def experts(tokens: int = 64, hidden: int = 256, count: int = 8, taken: int = 2, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [tokens, hidden] to `y`: a mixture of experts as Mixtral is exported, each on the tokens that are routed to it."""
    g = GraphBuilder("experts", seed, 18)
    x = g.input("x", (tokens, hidden))
    shares = g.op("Softmax", g.op("MatMul", x, g.matrix("router", (hidden, count), hidden, 4.0)), axis=-1)
    weights, chosen = g.ops("TopK", shares, g.integers(taken), outputs=2, axis=-1)
    weights = g.op("Div", weights, g.op("ReduceSum", weights, g.integers(-1), keepdims=1))
    total = g.constant(np.zeros((tokens, hidden)), name="zeros")
    for index in range(count):
        with g.scope(f"expert{index}"):
            places = g.op("Transpose", g.op("NonZero", g.op("Equal", chosen, g.constant(index, np.int64))), perm=[1, 0])
            row = g.op("Gather", places, g.constant(0, np.int64), axis=1)
            state = g.op("Gather", x, row, axis=0)
            gate = g.op("MatMul", state, g.matrix("gate", (hidden, 2 * hidden), hidden))
            inner = g.op(
                "Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), g.op("MatMul", state, g.matrix("up", (hidden, 2 * hidden), hidden))
            )
            result = g.op("MatMul", inner, g.matrix("down", (2 * hidden, hidden), 2 * hidden))
            share = g.op("Unsqueeze", g.op("GatherND", weights, places), g.integers(1))
            at = g.op("Unsqueeze", row, g.integers(1))
            total = g.op("ScatterND", total, at, g.op("Mul", result, share), reduction="add")
    g.output("y", total, (tokens, hidden))
    return g.model()
