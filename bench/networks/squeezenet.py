"""SqueezeNet 1.1 (Iandola et al. 2016): fire modules, and a convolution as the classifier."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import conv_bias

STAGES = (((16, 64), (16, 64)), ((32, 128), (32, 128)), ((48, 192), (48, 192), (64, 256), (64, 256)))
"""Channels of squeeze and of each expansion, with a pooling before each stage."""


def build(
    batch: int = 1,
    image: int = 224,
    stages: Sequence[Sequence[tuple[int, int]]] = STAGES,
    stem: int = 64,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]."""
    g = GraphBuilder("squeezenet", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    with g.scope("stem"):
        x = g.op("Relu", conv_bias(g, x, 3, stem, 3, stride=2))
    channels = stem
    for stage, fires in enumerate(stages):
        x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
        for index, (squeeze, expand) in enumerate(fires):
            with g.scope(f"fire{stage}.{index}"):
                x = _fire(g, x, channels, squeeze, expand)
            channels = 2 * expand
    with g.scope("head"):
        scores = g.op("Relu", conv_bias(g, x, channels, classes, 1))
        logits = g.op("Flatten", g.op("GlobalAveragePool", scores), axis=1)
    g.output("logits", logits, (n, classes))
    return g.model()


def _fire(g: GraphBuilder, x: str, channels: int, squeeze: int, expand: int) -> str:
    """A 1x1 convolution to few channels, then 1x1 and 3x3 side by side."""
    y = g.op("Relu", conv_bias(g, x, channels, squeeze, 1))
    sides = [g.op("Relu", conv_bias(g, y, squeeze, expand, kernel)) for kernel in (1, 3)]
    return g.op("Concat", *sides, axis=1)
