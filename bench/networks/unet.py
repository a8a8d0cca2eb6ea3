"""U-Net (Ronneberger et al. 2015) with padded convolutions, batch norm and transposed convolutions on the way up."""

from __future__ import annotations

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import batch_norm, conv, conv_bias


def build(
    batch: int = 1,
    image: int = 256,
    width: int = 32,
    depth: int = 4,
    classes: int = 2,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `masks` [N, classes, image, image]; 2 ** `depth` divides `image`."""
    g = GraphBuilder("unet", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    channels, skipped = 3, []
    for level in range(depth):
        with g.scope(f"down{level}"):
            x = _double(g, x, channels, width << level)
            channels = width << level
            skipped.append(x)
            x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    with g.scope("bottom"):
        x = _double(g, x, channels, 2 * channels)
        channels *= 2
    for level in reversed(range(depth)):
        with g.scope(f"up{level}"):
            x = g.op("Concat", skipped[level], _up(g, x, channels), axis=1)
            x = _double(g, x, channels, channels // 2)
            channels //= 2
    with g.scope("head"):
        masks = g.op("Sigmoid", conv_bias(g, x, channels, classes, 1))
    g.output("masks", masks, (n, classes, image, image))
    return g.model()


def _double(g: GraphBuilder, x: str, inputs: int, outputs: int) -> str:
    x = g.op("Relu", batch_norm(g, conv(g, x, inputs, outputs, 3), outputs))
    return g.op("Relu", batch_norm(g, conv(g, x, outputs, outputs, 3), outputs))


def _up(g: GraphBuilder, x: str, channels: int) -> str:
    """Twice the size, half the channels."""
    weight = g.matrix("weight", (channels, channels // 2, 2, 2), channels)
    bias = g.normal("bias", (channels // 2,), 0.1)
    return g.op("ConvTranspose", x, weight, bias, kernel_shape=[2, 2], strides=[2, 2])
