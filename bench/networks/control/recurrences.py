"""Loops over time: a transducer, an encoder of sequences of several lengths, a state space layer, a fixed point."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder
from bench.networks.transformer import linear


def transducer(frames: int = 40, inputs: int = 80, hidden: int = 256, vocab: int = 64, seed: int = 0) -> onnx.ModelProto:
    """f32 `frames` [T, inputs] to i64 `tokens` [T]: greedy RNN-T (Graves 2012), a token or the blank 0 for each frame.

    The prediction network, an LSTM of one step, runs only where the frame gave a token: an If in a Loop.
    """
    g = GraphBuilder("transducer", seed)
    encoded = linear(g, g.input("frames", (frames, inputs)), inputs, hidden)
    words = g.normal("words", (vocab, hidden), 0.5)
    with g.body("step") as body:
        number = body.input("number", (), TensorProto.INT64)
        body.input("going", (), TensorProto.BOOL)
        state = [body.input(name, (1, 1, hidden)) for name in ("h", "c")]
        frame = body.op("Unsqueeze", body.op("Gather", encoded, number, axis=0), body.integers(0))
        both = body.op("Tanh", body.op("Add", frame, body.op("Squeeze", state[0], body.integers(0))))
        token = body.op("ArgMax", linear(body, both, hidden, vocab), axis=-1, keepdims=0)
        is_blank = body.op("Equal", body.op("Mod", token, body.constant(3, np.int64)), body.constant(0, np.int64))
        kept = _predicted(body, is_blank, token, state, words, hidden)
        body.output("more", body.constant(True, np.bool_), (), TensorProto.BOOL)
        for name, value in zip(("h_out", "c_out"), kept, strict=True):
            body.output(name, value, (1, 1, hidden))
        body.output("token", body.op("Where", is_blank, body.constant([0], np.int64), token), (1,), TensorProto.INT64)
    zeros = g.constant(np.zeros((1, 1, hidden)), name="zeros")
    *_, tokens = g.ops("Loop", g.constant(frames, np.int64), "", zeros, zeros, outputs=3, body=body.graph())
    g.output("tokens", g.op("Squeeze", tokens, g.integers(1)), (frames,), TensorProto.INT64)
    return g.model()


def _predicted(g: GraphBuilder, is_blank: str, token: str, state: list[str], words: str, hidden: int) -> list[str]:
    """The state of the prediction network after a token; what it was after a blank."""
    with g.body("same") as same:
        for name, value in zip("hc", state, strict=True):
            same.output(f"same_{name}", value, (1, 1, hidden))
    with g.body("next") as following:
        x = following.op("Unsqueeze", following.op("Gather", words, token, axis=0), following.integers(0))
        weights = [following.matrix(name, (1, 4 * hidden, hidden), hidden) for name in ("w", "r")]
        bias = following.normal("b", (1, 8 * hidden), 0.1)
        _, *new = following.ops("LSTM", x, *weights, bias, "", *state, outputs=3, hidden_size=hidden)
        for name, value in zip("hc", new, strict=True):
            following.output(f"next_{name}", value, (1, 1, hidden))
    return g.ops("If", g.op("Squeeze", is_blank), outputs=2, then_branch=same.graph(), else_branch=following.graph())


def encoder(batch: int = 4, steps: int = 64, inputs: int = 128, hidden: int = 128, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [T, N, inputs] and i64 `lengths` [N] to `y` [N, 2 * hidden]: an LSTM both ways, the mean of each row's steps."""
    g = GraphBuilder("encoder", seed)
    x, lengths = g.input("x", (steps, batch, inputs)), g.input("lengths", (batch,), TensorProto.INT64)
    of_input, of_state = g.matrix("w", (2, 4 * hidden, inputs), inputs), g.matrix("r", (2, 4 * hidden, hidden), hidden)
    narrow = g.op("Cast", lengths, to=TensorProto.INT32)
    y = g.op(
        "LSTM", x, of_input, of_state, g.normal("b", (2, 8 * hidden), 0.1), narrow, hidden_size=hidden, direction="bidirectional"
    )
    y = g.op("Reshape", g.op("Transpose", y, perm=[2, 0, 1, 3]), g.integers(0, 0, -1))
    places = g.op("Range", g.constant(0, np.int64), g.constant(steps, np.int64), g.constant(1, np.int64))
    is_real = g.op("Less", places, g.op("Unsqueeze", lengths, g.integers(1)))
    real = g.op("Unsqueeze", g.op("Cast", is_real, to=TensorProto.FLOAT), g.integers(2))
    total = g.op("ReduceSum", g.op("Mul", y, real), g.integers(1), keepdims=0)
    counts = g.op("Unsqueeze", g.op("Cast", lengths, to=TensorProto.FLOAT), g.integers(1))
    g.output("y", g.op("Div", total, counts), (batch, 2 * hidden))
    return g.model()


def state_space(steps: int = 128, width: int = 128, states: int = 16, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [T, width] to `y` [T, width]: a selective state space layer (Mamba, Gu and Dao 2023) by Scan."""
    g = GraphBuilder("state_space", seed)
    x = g.input("x", (steps, width))
    delta = g.op("Softplus", linear(g, x, width, width))
    into, out = (g.op("MatMul", x, g.matrix(name, (width, states), width)) for name in ("b", "c"))
    rates = g.constant(-np.tile(np.arange(1, states + 1), (width, 1)), name="a")
    with g.body("scan") as body:
        state = body.input("state", (width, states))
        row, step = body.input("x_t", (width,)), body.input("delta_t", (width,))
        b, c = body.input("b_t", (states,)), body.input("c_t", (states,))
        column = body.op("Unsqueeze", step, body.integers(1))
        decay = body.op("Exp", body.op("Mul", column, rates))
        new = body.op("Mul", body.op("Unsqueeze", body.op("Mul", step, row), body.integers(1)), b)
        after = body.op("Add", body.op("Mul", decay, state), new)
        y = body.op("Squeeze", body.op("MatMul", after, body.op("Unsqueeze", c, body.integers(1))), body.integers(1))
        body.output("state_out", after, (width, states))
        body.output("y_t", y, (width,))
    zeros = g.constant(np.zeros((width, states)), name="zeros")
    _, y = g.ops("Scan", zeros, x, delta, into, out, outputs=2, body=body.graph(), num_scan_inputs=4)
    g.output("y", g.op("Add", y, g.op("Mul", x, g.normal("d", (width,), 0.5))), (steps, width))
    return g.model()


def fixed_point(width: int = 128, most: int = 200, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [1, width] to `z` [1, width] with z = tanh(z W + x), and `differences` [n] of all steps until they are small.

    A deep equilibrium layer (Bai et al. 2019); how many steps there are is what the data say.
    """
    g = GraphBuilder("fixed_point", seed)
    x = g.input("x", (1, width))
    weight = g.matrix("w", (width, width), width, 0.7)
    with g.body("iterate") as body:
        body.input("number", (), TensorProto.INT64)
        body.input("going", (), TensorProto.BOOL)
        z = body.input("z", (1, width))
        new = body.op("Tanh", body.op("Add", body.op("MatMul", z, weight), x))
        difference = body.op("ReduceMax", body.op("Abs", body.op("Sub", new, z)), keepdims=0)
        body.output("more", body.op("Greater", difference, body.constant(1e-3)), (), TensorProto.BOOL)
        body.output("z_out", new, (1, width))
        body.output("difference", difference, ())
        body.output("row", body.op("Squeeze", new, body.integers(0)), (width,))
    zeros = g.constant(np.zeros((1, width)), name="zeros")
    limit, going = g.constant(most, np.int64), g.constant(True, np.bool_)
    z, differences, rows = g.ops("Loop", limit, going, zeros, outputs=3, body=body.graph())
    g.output("z", z, (1, width))
    g.output("differences", differences, ("n",))
    g.output("path", rows, ("n", width))
    return g.model()
