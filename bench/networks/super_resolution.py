"""ESPCN (Shi et al. 2016): convolutions on the small image, then depth to space."""

from __future__ import annotations

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import conv_bias


def build(
    batch: int = 1, image: int = 224, factor: int = 3, width: int = 64, dynamic_batch: bool = False, seed: int = 0
) -> onnx.ModelProto:
    """f32 `image` [N, 1, image, image] to `larger` [N, 1, factor * image, factor * image]."""
    g = GraphBuilder("super_resolution", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 1, image, image))
    channels = 1
    for index, (outputs, kernel) in enumerate(((width, 5), (width, 3), (width // 2, 3))):
        with g.scope(f"conv{index}"):
            x = g.op("Relu", conv_bias(g, x, channels, outputs, kernel))
        channels = outputs
    with g.scope("head"):
        x = conv_bias(g, x, channels, factor * factor, 3)
        x = g.op("DepthToSpace", x, blocksize=factor, mode="CRD")
    g.output("larger", x, (n, 1, factor * image, factor * image))
    return g.model()
