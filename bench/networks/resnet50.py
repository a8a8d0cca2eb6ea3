"""ResNet-50 v1.5 (He et al. 2015, with the stride on the 3x3 convolution), batch norms unfolded."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from bench.networks.builder import GraphBuilder
from bench.networks.residual import residual_network
from bench.networks.vision import batch_norm, conv

_EXPANSION = 4


def build(
    batch: int = 1,
    image: int = 224,
    blocks: Sequence[int] = (3, 4, 6, 3),
    width: int = 64,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]; `blocks` per stage, `width` channels in the first one."""
    return residual_network(
        "resnet50",
        _bottleneck,
        _EXPANSION,
        batch=batch,
        image=image,
        blocks=blocks,
        width=width,
        classes=classes,
        dynamic_batch=dynamic_batch,
        seed=seed,
    )


def _bottleneck(g: GraphBuilder, x: str, channels: int, width: int, stride: int) -> str:
    """1x1, 3x3, 1x1 convolutions beside the identity, or beside a 1x1 convolution where the shape changes."""
    outputs = width * _EXPANSION
    y = g.op("Relu", batch_norm(g, conv(g, x, channels, width, 1), width))
    y = g.op("Relu", batch_norm(g, conv(g, y, width, width, 3, stride), width))
    y = batch_norm(g, conv(g, y, width, outputs, 1), outputs, scale=0.5)
    if stride != 1 or channels != outputs:
        x = batch_norm(g, conv(g, x, channels, outputs, 1, stride), outputs)
    return g.op("Relu", g.op("Add", y, x))
