"""A multilayer perceptron with ReLU."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder, batch_dim


def build(
    batch: int = 1, widths: Sequence[int] = (784, 512, 256, 10), dynamic_batch: bool = False, seed: int = 0
) -> onnx.ModelProto:
    """f32 `x` [N, widths[0]] to `logits` [N, widths[-1]]."""
    g = GraphBuilder("mlp", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("x", (n, widths[0]))
    for index, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        with g.scope(f"layer{index}"):
            weight = g.matrix("weight", (outputs, inputs), inputs, gain=2.0)
            x = g.op("Gemm", x, weight, g.normal("bias", (outputs,), 0.1), transB=1)
            x = g.op("Relu", x) if index < len(widths) - 2 else x
    g.output("logits", x, (n, widths[-1]))
    return g.model()
