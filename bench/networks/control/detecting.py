"""Detectors: how many boxes are left is what the data say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder


def detector(image: int = 128, width: int = 32, classes: int = 8, most: int = 20, seed: int = 0) -> onnx.ModelProto:
    """f32 `image` [1, 3, S, S] to `boxes` [n, 4], `scores` [n] and i64 `classes` [n]: one stage, with NMS for each class."""
    g = GraphBuilder("detector", seed)
    detected = _detected(g, image, width, classes, most)
    with g.scope("nms"):
        values = g.op("GatherND", detected.scores, detected.found)
    g.output("boxes", detected.kept, ("n", 4))
    g.output("scores", values, ("n",))
    g.output("classes", detected.labels, ("n",), TensorProto.INT64)
    return g.model()


def masks(image: int = 128, width: int = 32, classes: int = 8, most: int = 6, seed: int = 0) -> onnx.ModelProto:
    """f32 `image` [1, 3, S, S] to `boxes` [n, 4] and `masks` [n, 1, 28, 28]: regions of what NMS leaves, a mask each."""
    g = GraphBuilder("masks", seed)
    detected = _detected(g, image, width, classes, most)
    with g.scope("mask"):
        batch = g.op("Gather", detected.found, g.constant(0, np.int64), axis=1)
        sizes = {"output_height": 14, "output_width": 14, "sampling_ratio": 2, "spatial_scale": 1 / 8}
        x = g.op("RoiAlign", detected.features, detected.kept, batch, coordinate_transformation_mode="half_pixel", **sizes)
        for _ in range(2):
            x = _conv(g, x, width, width)
        weight = g.normal("up", (width, width, 2, 2), 0.2)
        x = g.op("Relu", g.op("ConvTranspose", x, weight, kernel_shape=[2, 2], strides=[2, 2]))
        x = g.op("Conv", x, g.matrix("weight", (classes, width, 1, 1), width), kernel_shape=[1, 1])
        rows = g.op("Range", g.constant(0, np.int64), g.op("Squeeze", g.op("Shape", detected.labels)), g.constant(1, np.int64))
        pairs = g.op("Concat", *(g.op("Unsqueeze", each, g.integers(1)) for each in (rows, detected.labels)), axis=1)
        own = g.op("Unsqueeze", g.op("GatherND", g.op("Sigmoid", x), pairs), g.integers(1))
    g.output("boxes", detected.kept, ("n", 4))
    g.output("masks", own, ("n", 1, 28, 28))
    return g.model()


@dataclass(frozen=True)
class _Detected:
    """Names of the features [1, C, S/8, S/8] and of the scores of all boxes; of what NMS leaves: triples, boxes and classes."""

    features: str
    scores: str
    found: str
    kept: str
    labels: str


def _detected(g: GraphBuilder, image: int, width: int, classes: int, most: int) -> _Detected:
    features = _backbone(g, g.input("image", (1, 3, image, image)), width)
    boxes, scores = _head(g, features, width, classes, image // 8)
    with g.scope("nms"):
        found = _suppressed(g, boxes, scores, most, 0.5)
        labels, place = (g.op("Gather", found, g.constant(column, np.int64), axis=1) for column in (1, 2))
        kept = g.op("Gather", g.op("Squeeze", boxes, g.integers(0)), place, axis=0)
    return _Detected(features, scores, found, kept, labels)


def _backbone(g: GraphBuilder, x: str, width: int) -> str:
    """Features [1, width, S/8, S/8]."""
    channels = 3
    for index in range(3):
        with g.scope(f"stage{index}"):
            x = _conv(g, _conv(g, x, channels, width, stride=2), width, width)
        channels = width
    return x


def _conv(g: GraphBuilder, x: str, channels: int, outputs: int, stride: int = 1) -> str:
    weight = g.matrix("weight", (outputs, channels, 3, 3), 9 * channels, 2.0)
    bias = g.normal("bias", (outputs,), 0.02)
    return g.op("Relu", g.op("Conv", x, weight, bias, kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2))


def _head(g: GraphBuilder, x: str, width: int, classes: int, cells: int) -> tuple[str, str]:
    """Boxes [1, cells^2, 4] in pixels (corners), and scores [1, classes, cells^2]."""
    with g.scope("head"):
        weight = g.matrix("weight", (4 + classes, width, 1, 1), width)
        raw = g.op("Conv", x, weight, g.normal("bias", (4 + classes,), 0.1), kernel_shape=[1, 1])
        flat = g.op("Reshape", raw, g.integers(1, 4 + classes, -1))
        offsets, scores = g.ops("Split", flat, g.integers(4, classes), outputs=2, axis=1)
        moves, sizes = g.ops("Split", offsets, g.integers(2, 2), outputs=2, axis=1)
        grid = np.stack(np.meshgrid(np.arange(cells), np.arange(cells))).reshape(1, 2, -1)
        middle = g.op("Mul", g.op("Add", g.op("Sigmoid", moves), g.constant(grid, name="grid")), g.constant(8.0))
        half = g.op("Mul", g.op("Exp", g.op("Tanh", sizes)), g.constant(12.0))
        corners = g.op("Concat", g.op("Sub", middle, half), g.op("Add", middle, half), axis=1)
        return g.op("Transpose", corners, perm=[0, 2, 1]), g.op("Sigmoid", scores)


def _suppressed(g: GraphBuilder, boxes: str, scores: str, most: int, least: float) -> str:
    """i64 [n, 3]: image, class and box of each that is kept."""
    limits = g.integers(most), g.constant([0.45]), g.constant([least])
    return g.op("NonMaxSuppression", boxes, scores, *limits)
