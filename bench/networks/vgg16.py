"""VGG-16 (Simonyan and Zisserman 2014), configuration D."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import conv_bias


def build(
    batch: int = 1,
    image: int = 224,
    blocks: Sequence[int] = (2, 2, 3, 3, 3),
    width: int = 64,
    hidden: int = 4096,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]; `blocks` are the convolutions of each stage."""
    g = GraphBuilder("vgg16", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    channels, size = 3, image
    for stage, count in enumerate(blocks):
        outputs = width << min(stage, 3)
        for index in range(count):
            with g.scope(f"conv{stage + 1}_{index + 1}"):
                x = g.op("Relu", conv_bias(g, x, channels, outputs, 3))
            channels = outputs
        x, size = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), size // 2
    x = g.op("Flatten", x, axis=1)
    features = channels * size * size
    for number, outputs in enumerate((hidden, hidden, classes)):
        with g.scope(f"fc{number + 6}"):
            weight = g.matrix("weight", (outputs, features), features, gain=2.0)
            x = g.op("Gemm", x, weight, g.normal("bias", (outputs,), 0.1), transB=1)
            x = x if number == 2 else g.op("Relu", x)
        features = outputs
    g.output("logits", x, (n, classes))
    return g.model()
