"""Layers of quantised networks as tools write them: QuantizeLinear and DequantizeLinear around ops of floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.networks.builder import GraphBuilder

_STEPS = 127


class QuantizedBuilder(GraphBuilder):
    """A graph whose activations are ui8, with one scale and zero point each, and whose weights are i8, one scale per channel."""

    def activation(self, x: str, scale: float, zero: int = 128) -> str:
        """`x` after QuantizeLinear and DequantizeLinear: values from -zero * scale to (255 - zero) * scale."""
        step, point = self.constant(scale, name="scale"), self.constant(zero, np.uint8, "zero")
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, step, point), step, point)

    def weight(self, name: str, shape: Sequence[int], fan_in: int, axis: int, gain: float = 1.0) -> tuple[str, np.ndarray]:
        """DequantizeLinear of normal weights of variance `gain / fan_in`, and their scales along `axis`."""
        values = self._random.standard_normal(shape, np.float32) * math.sqrt(gain / fan_in)
        others = tuple(index for index in range(len(shape)) if index != axis)
        scales = (np.abs(values).max(axis=others, keepdims=True) / _STEPS).astype(np.float32)
        whole = self.constant(np.rint(values / scales), np.int8, name)
        zero = self.constant(np.zeros(shape[axis]), np.int8, f"{name}_zero")
        scale = self.constant(scales.reshape(-1), name=f"{name}_scale")
        return self.op("DequantizeLinear", whole, scale, zero, axis=axis), scales.reshape(-1)

    def bias(self, scales: np.ndarray) -> str:
        """DequantizeLinear of a bias in i32, which has the scale of the sums, one number per channel."""
        values = self._random.standard_normal(len(scales), np.float32) * np.float32(0.02)
        whole = self.constant(np.rint(values / scales), np.int32, "bias")
        zero = self.constant(np.zeros(len(scales)), np.int32, "bias_zero")
        return self.op("DequantizeLinear", whole, self.constant(scales, name="bias_scale"), zero, axis=0)


def conv(g: QuantizedBuilder, x: str, scale: float, inputs: int, outputs: int, size: int, **attributes: Any) -> str:
    """A convolution of an activation of `scale`, with bias and such padding that stride 1 keeps the size."""
    gain = attributes.pop("gain", 2.0)
    weight, scales = g.weight("weight", (outputs, inputs, size, size), inputs * size * size, 0, gain)
    window = {"kernel_shape": [size, size], "pads": [size // 2] * 4, **attributes}
    return g.op("Conv", x, weight, g.bias(scales * np.float32(scale)), **window)


def linear(g: QuantizedBuilder, x: str, inputs: int, outputs: int, gain: float = 1.0) -> str:
    """`x @ weight + bias` over the last dim; the bias is f32."""
    weight, _ = g.weight("weight", (inputs, outputs), inputs, 1, gain)
    return g.op("Add", g.op("MatMul", x, weight), g.normal("bias", (outputs,), 0.02))
