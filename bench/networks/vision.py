"""Layers that convolutional networks share."""

from __future__ import annotations

from bench.networks.builder import GraphBuilder


def conv(g: GraphBuilder, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> str:
    """Convolution without bias, padded so that the size is divided by the stride."""
    fan_in = inputs // groups * kernel * kernel
    weight = g.matrix("weight", (outputs, inputs // groups, kernel, kernel), fan_in, gain=2.0)
    pads = [kernel // 2] * 4
    return g.op("Conv", x, weight, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups, dilations=[1, 1])


def batch_norm(g: GraphBuilder, x: str, channels: int, scale: float = 1.0) -> str:
    """Inference batch norm with statistics near zero and one; its scales lie around `0.75 * scale`."""
    weight = g.uniform("scale", (channels,), 0.5 * scale, scale)
    bias = g.normal("bias", (channels,), 0.1)
    mean = g.normal("mean", (channels,), 0.1)
    variance = g.uniform("variance", (channels,), 0.5, 1.5)
    return g.op("BatchNormalization", x, weight, bias, mean, variance, epsilon=1e-5, momentum=0.9)


def classifier(g: GraphBuilder, x: str, channels: int, classes: int) -> str:
    """Global average, flatten and a linear layer."""
    flat = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    weight = g.matrix("weight", (classes, channels), channels)
    return g.op("Gemm", flat, weight, g.normal("bias", (classes,), 0.1), transB=1)


def conv_bias(g: GraphBuilder, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1) -> str:
    """Convolution with bias, padded so that the size is divided by the stride."""
    weight = g.matrix("weight", (outputs, inputs, kernel, kernel), inputs * kernel * kernel, gain=2.0)
    bias, pads = g.normal("bias", (outputs,), 0.1), [kernel // 2] * 4
    return g.op("Conv", x, weight, bias, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, dilations=[1, 1])
