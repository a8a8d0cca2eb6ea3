"""One recurrent layer (LSTM, GRU) of any direction, with lengths of its own for each row where asked for."""

from __future__ import annotations

import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder

_GATES = {"LSTM": 4, "GRU": 3}


def build(
    kind: str = "LSTM",
    steps: int = 128,
    batch: int = 1,
    direction: str = "forward",
    dynamic_steps: bool = False,
    lengths: bool = False,
    inputs: int = 128,
    hidden: int = 128,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `x` [T, N, inputs] to all outputs of the node; T is a dynamic dim `steps` where `dynamic_steps`.

    `lengths` adds the input of that name, i32 [N]. A GRU is PyTorch's: the reset gate acts on the product (`linear_before_reset`).
    """
    g = GraphBuilder(kind.lower(), seed)
    extent = "steps" if dynamic_steps else steps
    x = g.input("x", (extent, batch, inputs))
    given = [g.input("lengths", (batch,), TensorProto.INT32)] if lengths else []
    count, width = 2 if direction == "bidirectional" else 1, _GATES[kind] * hidden
    weights = g.matrix("w", (count, width, inputs), inputs), g.matrix("r", (count, width, hidden), hidden)
    bias = g.normal("b", (count, 2 * width), 0.1)
    form = {} if kind == "LSTM" else {"linear_before_reset": 1}
    names = ("y", "h", "c") if kind == "LSTM" else ("y", "h")
    found = g.ops(kind, x, *weights, bias, *given, outputs=len(names), hidden_size=hidden, direction=direction, **form)
    g.output("y", found[0], (extent, count, batch, hidden))
    for name, value in zip(names[1:], found[1:], strict=True):
        g.output(name, value, (count, batch, hidden))
    return g.model()
