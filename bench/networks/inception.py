"""An Inception block with the stem of GoogLeNet (Szegedy et al. 2014): four branches, joined by channels."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import classifier, conv_bias

BLOCKS = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64))
"""Inception 3a and 3b: channels of the 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5 and pool projections."""


def build(
    batch: int = 1,
    image: int = 224,
    blocks: Sequence[Sequence[int]] = BLOCKS,
    stem: int = 64,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]."""
    g = GraphBuilder("inception", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    with g.scope("stem"):
        x = _pool(g, g.op("Relu", conv_bias(g, x, 3, stem, 7, stride=2)), stride=2)
        x = g.op("Relu", conv_bias(g, x, stem, stem, 1))
        x = _pool(g, g.op("Relu", conv_bias(g, x, stem, 3 * stem, 3)), stride=2)
    channels = 3 * stem
    for index, widths in enumerate(blocks):
        with g.scope(f"block{index}"):
            x = _block(g, x, channels, widths)
        channels = widths[0] + widths[2] + widths[4] + widths[5]
    with g.scope("head"):
        logits = classifier(g, x, channels, classes)
    g.output("logits", logits, (n, classes))
    return g.model()


def _pool(g: GraphBuilder, x: str, stride: int) -> str:
    return g.op("MaxPool", x, kernel_shape=[3, 3], strides=[stride] * 2, pads=[1, 1, 1, 1])


def _block(g: GraphBuilder, x: str, channels: int, widths: Sequence[int]) -> str:
    one, reduce3, three, reduce5, five, pooled = widths
    branches = [g.op("Relu", conv_bias(g, x, channels, one, 1))]
    for reduced, width, kernel in ((reduce3, three, 3), (reduce5, five, 5)):
        y = g.op("Relu", conv_bias(g, x, channels, reduced, 1))
        branches.append(g.op("Relu", conv_bias(g, y, reduced, width, kernel)))
    branches.append(g.op("Relu", conv_bias(g, _pool(g, x, stride=1), channels, pooled, 1)))
    return g.op("Concat", *branches, axis=1)
