"""ResNet-18 (He et al. 2015): basic blocks, batch norms unfolded."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import batch_norm, classifier, conv


def build(
    batch: int = 1,
    image: int = 224,
    blocks: Sequence[int] = (2, 2, 2, 2),
    width: int = 64,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]; `blocks` per stage, `width` channels in the first one."""
    g = GraphBuilder("resnet18", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    with g.scope("stem"):
        x = g.op("Relu", batch_norm(g, conv(g, x, 3, width, 7, stride=2), width))
        x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = width
    for stage, count in enumerate(blocks):
        for index in range(count):
            with g.scope(f"layer{stage + 1}.{index}"):
                x = _basic(g, x, channels, width << stage, 2 if stage and index == 0 else 1)
            channels = width << stage
    with g.scope("head"):
        logits = classifier(g, x, channels, classes)
    g.output("logits", logits, (n, classes))
    return g.model()


def _basic(g: GraphBuilder, x: str, channels: int, width: int, stride: int) -> str:
    """Two 3x3 convolutions beside the identity, or beside a 1x1 convolution where the shape changes."""
    y = g.op("Relu", batch_norm(g, conv(g, x, channels, width, 3, stride), width))
    y = batch_norm(g, conv(g, y, width, width, 3), width, scale=0.5)
    if stride != 1 or channels != width:
        x = batch_norm(g, conv(g, x, channels, width, 1, stride), width)
    return g.op("Relu", g.op("Add", y, x))
