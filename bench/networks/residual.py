"""What residual networks have in common: stem, stages of blocks, head."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import batch_norm, classifier, conv

Block = Callable[[GraphBuilder, str, int, int, int], str]
"""A block of the graph: (graph, input, its channels, width, stride) to the output."""


def residual_network(
    name: str,
    block: Block,
    expansion: int,
    *,
    batch: int,
    image: int,
    blocks: Sequence[int],
    width: int,
    classes: int,
    dynamic_batch: bool,
    seed: int,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]; `blocks` per stage, `width` channels in the first one.

    A block of width w gives `expansion` * w channels.
    """
    g = GraphBuilder(name, seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    with g.scope("stem"):
        x = g.op("Relu", batch_norm(g, conv(g, x, 3, width, 7, stride=2), width))
        x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = width
    for stage, count in enumerate(blocks):
        for index in range(count):
            with g.scope(f"layer{stage + 1}.{index}"):
                x = block(g, x, channels, width << stage, 2 if stage and index == 0 else 1)
            channels = (width << stage) * expansion
    with g.scope("head"):
        logits = classifier(g, x, channels, classes)
    g.output("logits", logits, (n, classes))
    return g.model()
