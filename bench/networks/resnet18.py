"""ResNet-18 (He et al. 2015): basic blocks, batch norms unfolded."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder
from bench.networks.residual import residual_network
from bench.networks.vision import batch_norm, conv


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
    return residual_network(
        "resnet18",
        _basic,
        1,
        batch=batch,
        image=image,
        blocks=blocks,
        width=width,
        classes=classes,
        dynamic_batch=dynamic_batch,
        seed=seed,
    )


def _basic(g: GraphBuilder, x: str, channels: int, width: int, stride: int) -> str:
    """Two 3x3 convolutions beside the identity, or beside a 1x1 convolution where the shape changes."""
    y = g.op("Relu", batch_norm(g, conv(g, x, channels, width, 3, stride), width))
    y = batch_norm(g, conv(g, y, width, width, 3), width, scale=0.5)
    if stride != 1 or channels != width:
        x = batch_norm(g, conv(g, x, channels, width, 1, stride), width)
    return g.op("Relu", g.op("Add", y, x))
