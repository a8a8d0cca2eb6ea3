"""Layers of LSTM (Hochreiter and Schmidhuber 1997): as ONNX's op, or unrolled over time as tracing a loop over cells gives them."""

from __future__ import annotations

import numpy as np
import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.transformer import dim_of


def build(
    batch: int = 1,
    seq: int = 32,
    layers: int = 2,
    inputs: int = 128,
    hidden: int = 256,
    classes: int = 16,
    unrolled: bool = True,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `x` [seq, N, inputs] to `logits` [N, classes] of the last step's state."""
    g = GraphBuilder("lstm", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("x", (seq, n, inputs))
    last = _unrolled(g, x, batch, seq, layers, inputs, hidden, dynamic_batch) if unrolled else _ops(g, x, layers, inputs, hidden)
    with g.scope("head"):
        weight = g.matrix("weight", (hidden, classes), hidden)
        logits = g.op("Add", g.op("MatMul", last, weight), g.normal("bias", (classes,), 0.1))
    g.output("logits", logits, (n, classes))
    return g.model()


def _ops(g: GraphBuilder, x: str, layers: int, inputs: int, hidden: int) -> str:
    """The last hidden state after layers that are an LSTM node each."""
    width, last = inputs, ""
    for index in range(layers):
        with g.scope(f"layer{index}"):
            of_input, of_state = g.matrix("w", (1, 4 * hidden, width), width), g.matrix("r", (1, 4 * hidden, hidden), hidden)
            y, last, _ = g.ops("LSTM", x, of_input, of_state, g.normal("b", (1, 8 * hidden), 0.1), outputs=3, hidden_size=hidden)
            x, width = g.op("Squeeze", y, g.integers(1)), hidden
    return g.op("Squeeze", last, g.integers(0))


def _unrolled(g: GraphBuilder, x: str, batch: int, seq: int, layers: int, inputs: int, hidden: int, dynamic_batch: bool) -> str:
    """The last hidden state after layers of cells."""
    rows = dim_of(g, x, 1) if dynamic_batch else g.integers(batch)
    zeros = g.op("Expand", g.constant([[0.0]]), g.op("Concat", rows, g.integers(hidden), axis=0))
    width, steps = inputs, g.ops("Split", x, g.integers(*[1] * seq), outputs=seq, axis=0)
    states = [g.op("Squeeze", step, g.integers(0)) for step in steps]
    for index in range(layers):
        with g.scope(f"layer{index}"):
            states = _layer(g, states, width, hidden, zeros)
        width = hidden
    return states[-1]


def _layer(g: GraphBuilder, steps: list[str], inputs: int, hidden: int, zeros: str) -> list[str]:
    """The hidden state after each step."""
    of_input, of_state = g.matrix("w", (inputs, 4 * hidden), inputs), g.matrix("r", (hidden, 4 * hidden), hidden)
    bias, sizes = g.normal("b", (4 * hidden,), 0.1), g.constant([hidden] * 4, np.int64)
    state, cell, found = zeros, zeros, []
    for step in steps:
        total = g.op("Add", g.op("Add", g.op("MatMul", step, of_input), g.op("MatMul", state, of_state)), bias)
        gates = g.ops("Split", total, sizes, outputs=4, axis=1)
        keep, write, show = (g.op("Sigmoid", gates[place]) for place in (0, 1, 2))
        new = g.op("Mul", write, g.op("Tanh", gates[3]))
        cell = g.op("Add", g.op("Mul", keep, cell), new)
        state = g.op("Mul", show, g.op("Tanh", cell))
        found.append(state)
    return found
