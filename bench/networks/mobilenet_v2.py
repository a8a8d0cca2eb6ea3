"""MobileNetV2 (Sandler et al. 2018): inverted residuals with depthwise convolutions and ReLU6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from bench.networks.builder import GraphBuilder, batch_dim
from bench.networks.vision import batch_norm, classifier, conv


@dataclass(frozen=True)
class Stage:
    """`count` blocks of `channels` outputs; the first one has the stride. Inner channels are `expansion` times the input's."""

    expansion: int
    channels: int
    count: int
    stride: int


STAGES = (
    Stage(1, 16, 1, 1),
    Stage(6, 24, 2, 2),
    Stage(6, 32, 3, 2),
    Stage(6, 64, 4, 2),
    Stage(6, 96, 3, 1),
    Stage(6, 160, 3, 2),
    Stage(6, 320, 1, 1),
)
"""Table 2 of the paper."""


def build(
    batch: int = 1,
    image: int = 224,
    stages: Sequence[Stage] = STAGES,
    stem: int = 32,
    features: int = 1280,
    classes: int = 1000,
    dynamic_batch: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """f32 `image` [N, 3, image, image] to `logits` [N, classes]."""
    g = GraphBuilder("mobilenet_v2", seed)
    n = batch_dim(batch, dynamic_batch)
    x = g.input("image", (n, 3, image, image))
    with g.scope("stem"):
        x = _relu6(g, batch_norm(g, conv(g, x, 3, stem, 3, stride=2), stem))
    channels = stem
    for number, stage in enumerate(stages):
        for index in range(stage.count):
            with g.scope(f"stage{number + 1}.{index}"):
                x = _inverted_residual(g, x, channels, stage, stage.stride if index == 0 else 1)
            channels = stage.channels
    with g.scope("head"):
        x = _relu6(g, batch_norm(g, conv(g, x, channels, features, 1), features))
        logits = classifier(g, x, features, classes)
    g.output("logits", logits, (n, classes))
    return g.model()


def _relu6(g: GraphBuilder, x: str) -> str:
    return g.op("Clip", x, g.constant(0.0, name="low"), g.constant(6.0, name="high"))


def _inverted_residual(g: GraphBuilder, x: str, channels: int, stage: Stage, stride: int) -> str:
    """1x1 expansion, depthwise 3x3, 1x1 projection without activation; plus the input where the shape is the same."""
    inner = channels * stage.expansion
    y = x
    if stage.expansion != 1:
        y = _relu6(g, batch_norm(g, conv(g, y, channels, inner, 1), inner))
    y = _relu6(g, batch_norm(g, conv(g, y, inner, inner, 3, stride, groups=inner), inner))
    y = batch_norm(g, conv(g, y, inner, stage.channels, 1), stage.channels)
    return g.op("Add", x, y) if stride == 1 and channels == stage.channels else y
