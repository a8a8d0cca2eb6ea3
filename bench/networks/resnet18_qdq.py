"""ResNet-18 quantised after training: batch norms are in the convolutions, every activation is ui8."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.quantized import QuantizedBuilder, conv

_SCALE, _SIGNED, _PIXEL = 0.04, 0.06, 0.02
"""Scales of what a ReLU gives, of other sums, and of the image."""


def build(
    batch: int = 1, image: int = 224, blocks: Sequence[int] = (2, 2, 2, 2), width: int = 64, classes: int = 1000, seed: int = 0
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]; `blocks` per stage, `width` channels in the first one."""
    g = QuantizedBuilder("resnet18_qdq", seed)
    x = g.activation(g.input("image", (batch, 3, image, image)), _PIXEL)
    with g.scope("stem"):
        x = g.activation(g.op("Relu", conv(g, x, _PIXEL, 3, width, 7, strides=[2, 2])), _SCALE, 0)
        x = g.activation(g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), _SCALE, 0)
    channels = width
    for stage, count in enumerate(blocks):
        for index in range(count):
            with g.scope(f"layer{stage + 1}.{index}"):
                x = _basic(g, x, channels, width << stage, 2 if stage and index == 0 else 1)
            channels = width << stage
    with g.scope("head"):
        x = g.activation(g.op("GlobalAveragePool", x), _SCALE, 0)
        flat = g.activation(g.op("Flatten", x), _SCALE, 0)
        weight, scales = g.weight("weight", (classes, channels), channels, 0)
        logits = g.activation(g.op("Gemm", flat, weight, g.bias(scales * _SCALE), transB=1), _SIGNED)
    g.output("logits", logits, (batch, classes))
    return g.model()


def _basic(g: QuantizedBuilder, x: str, channels: int, width: int, stride: int) -> str:
    """Two 3x3 convolutions beside the identity, or beside a 1x1 convolution where the shape changes."""
    y = g.activation(g.op("Relu", conv(g, x, _SCALE, channels, width, 3, strides=[stride, stride])), _SCALE, 0)
    y = g.activation(conv(g, y, _SCALE, width, width, 3, gain=0.5), _SIGNED)
    if stride != 1 or channels != width:
        x = g.activation(conv(g, x, _SCALE, channels, width, 1, strides=[stride, stride], gain=1.0), _SIGNED)
    return g.activation(g.op("Relu", g.op("Add", y, x)), _SCALE, 0)
