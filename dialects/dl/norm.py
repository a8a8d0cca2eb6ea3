"""Normalisations. Statistics of f16 and bf16 are computed in f32."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import FloatAttr, IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import (
    FLOATS,
    Dim,
    TensorType,
    normalize_axis,
    require,
    require_equal_dims,
    require_same_dtype,
)


class AlongAxis(DLOp):
    """Base of ops that normalise along one axis."""

    fusion_class = "reduction"
    accepts = FLOATS
    x: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=-1, doc="axis that is normalised; negative ones count from the end")

    @staticmethod
    def infer(x: TensorType, *, axis: int) -> TensorType:
        normalize_axis("c1", axis, x.rank)
        return x


class Softmax(AlongAxis, name="softmax"):
    """Softmax along one axis. ONNX Softmax.

    result = exp(x - max(x)) / sum(exp(x - max(x))), max and sum along axis

    c1: axis is in [-rank, rank).
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axis: int) -> np.ndarray:
        powers = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
        return powers / powers.sum(axis=axis, keepdims=True)


class LogSoftmax(AlongAxis, name="log_softmax"):
    """Logarithm of the softmax along one axis. ONNX LogSoftmax.

    result = x - max(x) - log(sum(exp(x - max(x)))), max and sum along axis

    c1: axis is in [-rank, rank).
    """

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, axis: int) -> np.ndarray:
        shifted = x - x.max(axis=axis, keepdims=True, initial=-np.inf)
        return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


class BatchNorm(DLOp, name="batch_norm"):
    """Batch normalisation at inference, per channel (axis 1). ONNX BatchNormalization.

    result = (x - mean[c]) / sqrt(var[c] + epsilon) * scale[c] + bias[c]

    c1: operands have one element type.    c2: x has rank 2 or more.
    c3: scale, bias, mean and var are [x dim 1].
    """

    fusion_class = "broadcast"
    is_elementwise = True
    accepts = FLOATS
    x: Operand[Tensor]
    scale: Operand[Tensor]
    bias: Operand[Tensor]
    mean: Operand[Tensor]
    var: Operand[Tensor]
    result: Result[Tensor]
    epsilon = FloatAttr(default=1e-5, doc="added to the variance")

    @staticmethod
    def infer(
        x: TensorType, scale: TensorType, bias: TensorType, mean: TensorType, var: TensorType, *, epsilon: float
    ) -> TensorType:
        require_same_dtype("c1", x=x, scale=scale, bias=bias, mean=mean, var=var)
        require("c2", x.rank >= 2, f"x has rank {x.rank}")
        for name, operand in (("scale", scale), ("bias", bias), ("mean", mean), ("var", var)):
            _require_shape("c3", name, operand, x.shape[1:2])
        return x

    @staticmethod
    @wide
    def reference(
        x: np.ndarray, scale: np.ndarray, bias: np.ndarray, mean: np.ndarray, var: np.ndarray, *, epsilon: float
    ) -> np.ndarray:
        scale, bias, mean, var = (_per_channel(item, x.ndim) for item in (scale, bias, mean, var))
        return (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) * scale + bias


class LayerNorm(DLOp, name="layer_norm"):
    """Normalise all axes from `axis` on. ONNX LayerNormalization.

    result = (x - mean(x)) / sqrt(var(x) + epsilon) * scale + bias, mean and variance over the axes from axis on

    An absent scale is 1, an absent bias 0.

    c1: operands have one element type.    c2: axis is in [-rank, rank).
    c3: scale and bias have the dims of x from axis on.
    """

    fusion_class = "reduction"
    accepts = FLOATS
    x: Operand[Tensor]
    result: Result[Tensor]
    scale: Optional[Operand[Tensor]] = None
    bias: Optional[Operand[Tensor]] = None
    axis = IntAttr(default=-1, doc="first axis that is normalised; negative ones count from the end")
    epsilon = FloatAttr(default=1e-5, doc="added to the variance")

    @staticmethod
    def infer(x: TensorType, scale: Optional[TensorType], bias: Optional[TensorType], *, axis: int, epsilon: float) -> TensorType:
        _check_trailing(x, axis, scale=scale, bias=bias)
        return x

    @staticmethod
    @wide
    def reference(
        x: np.ndarray, scale: Optional[np.ndarray], bias: Optional[np.ndarray], *, axis: int, epsilon: float
    ) -> np.ndarray:
        return _scaled(_standardized(x, range(axis % x.ndim, x.ndim), epsilon), scale, bias)


class RmsNorm(DLOp, name="rms_norm"):
    """Divide by the root mean square over all axes from `axis` on. ONNX RMSNormalization.

    result = x / sqrt(mean(x * x) + epsilon) * scale, mean over the axes from axis on

    An absent scale is 1.

    c1: operands have one element type.    c2: axis is in [-rank, rank).
    c3: scale has the dims of x from axis on.
    """

    fusion_class = "reduction"
    accepts = FLOATS
    x: Operand[Tensor]
    result: Result[Tensor]
    scale: Optional[Operand[Tensor]] = None
    axis = IntAttr(default=-1, doc="first axis that is normalised; negative ones count from the end")
    epsilon = FloatAttr(default=1e-5, doc="added to the mean square")

    @staticmethod
    def infer(x: TensorType, scale: Optional[TensorType], *, axis: int, epsilon: float) -> TensorType:
        _check_trailing(x, axis, scale=scale)
        return x

    @staticmethod
    @wide
    def reference(x: np.ndarray, scale: Optional[np.ndarray], *, axis: int, epsilon: float) -> np.ndarray:
        axes = tuple(range(axis % x.ndim, x.ndim))
        root = np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + x.dtype.type(epsilon))
        return _scaled(x / root, scale, None)


class InstanceNorm(DLOp, name="instance_norm"):
    """Normalise each channel of each image over its spatial axes. ONNX InstanceNormalization.

    result = (x - mean(x)) / sqrt(var(x) + epsilon) * scale[c] + bias[c], mean and variance over the axes from 2 on

    c1: operands have one element type.    c2: x has rank 3 or more.    c3: scale and bias are [x dim 1].
    """

    fusion_class = "reduction"
    accepts = FLOATS
    x: Operand[Tensor]
    scale: Operand[Tensor]
    bias: Operand[Tensor]
    result: Result[Tensor]
    epsilon = FloatAttr(default=1e-5, doc="added to the variance")

    @staticmethod
    def infer(x: TensorType, scale: TensorType, bias: TensorType, *, epsilon: float) -> TensorType:
        require_same_dtype("c1", x=x, scale=scale, bias=bias)
        require("c2", x.rank >= 3, f"x has rank {x.rank}")
        _require_shape("c3", "scale", scale, x.shape[1:2])
        _require_shape("c3", "bias", bias, x.shape[1:2])
        return x

    @staticmethod
    @wide
    def reference(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, *, epsilon: float) -> np.ndarray:
        normal = _standardized(x, range(2, x.ndim), epsilon)
        return normal * _per_channel(scale, x.ndim) + _per_channel(bias, x.ndim)


class GroupNorm(DLOp, name="group_norm"):
    """Normalise groups of neighbouring channels of each image over channels and spatial axes. ONNX GroupNormalization.

    result = (x - mean(x)) / sqrt(var(x) + epsilon) * scale[c] + bias[c], mean and variance over each group of an image

    c1: operands have one element type.    c2: x has rank 2 or more.    c3: scale and bias are [x dim 1].
    c4: num_groups is positive and divides x dim 1.
    """

    fusion_class = "reduction"
    accepts = FLOATS
    x: Operand[Tensor]
    scale: Operand[Tensor]
    bias: Operand[Tensor]
    result: Result[Tensor]
    num_groups = IntAttr(doc="number of groups of channels")
    epsilon = FloatAttr(default=1e-5, doc="added to the variance")

    @staticmethod
    def infer(x: TensorType, scale: TensorType, bias: TensorType, *, num_groups: int, epsilon: float) -> TensorType:
        require_same_dtype("c1", x=x, scale=scale, bias=bias)
        require("c2", x.rank >= 2, f"x has rank {x.rank}")
        _require_shape("c3", "scale", scale, x.shape[1:2])
        _require_shape("c3", "bias", bias, x.shape[1:2])
        require("c4", num_groups > 0, f"num_groups is {num_groups}")
        channels = x.dim(1)
        if isinstance(channels, int):
            require("c4", channels % num_groups == 0, f"x dim 1 is {channels}, not a multiple of num_groups {num_groups}")
        return x

    @staticmethod
    @wide
    def reference(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, *, num_groups: int, epsilon: float) -> np.ndarray:
        grouped = x.reshape(x.shape[0], num_groups, x.shape[1] // num_groups, *x.shape[2:])
        normal = _standardized(grouped, range(2, grouped.ndim), epsilon).reshape(x.shape)
        return normal * _per_channel(scale, x.ndim) + _per_channel(bias, x.ndim)


class Lrn(DLOp, name="lrn"):
    """Local response normalisation across channels. ONNX LRN.

    result = x / (bias + alpha / size * sum(x[c'] * x[c'])) ** beta

    summed over the channels c' from c - (size - 1) // 2 to c + size // 2 that exist.

    c1: x has rank 2 or more.    c2: size is positive.    c3: axis is an axis of x.
    """

    fusion_class = "reduction"
    accepts = FLOATS
    x: Operand[Tensor]
    result: Result[Tensor]
    size = IntAttr(doc="number of channels that are summed")
    alpha = FloatAttr(default=1e-4, doc="weight of the mean square")
    beta = FloatAttr(default=0.75, doc="exponent")
    bias = FloatAttr(default=1.0, doc="added to the weighted mean square")
    axis = IntAttr(default=1, doc="axis of the channels; a negative one counts from the end")

    @staticmethod
    def infer(x: TensorType, *, size: int, alpha: float, beta: float, bias: float, axis: int) -> TensorType:
        require("c1", x.rank >= 2, f"x has rank {x.rank}")
        require("c2", size > 0, f"size is {size}")
        normalize_axis("c3", axis, x.rank)
        return x

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, size: int, alpha: float, beta: float, bias: float, axis: int) -> np.ndarray:
        padding = [(0, 0)] * x.ndim
        padding[axis] = ((size - 1) // 2, size // 2)
        squares = np.pad(x * x, padding)
        total = np.lib.stride_tricks.sliding_window_view(squares, size, axis=axis).sum(axis=-1)
        factor, base, exponent = (x.dtype.type(item) for item in (alpha / size, bias, beta))
        return x / (base + factor * total) ** exponent


def _standardized(x: np.ndarray, axes: Sequence[int], epsilon: float) -> np.ndarray:
    """`x` with mean 0 and variance 1 over `axes`."""
    centered = x - x.mean(axis=tuple(axes), keepdims=True)
    variance = np.mean(centered * centered, axis=tuple(axes), keepdims=True)
    return centered / np.sqrt(variance + x.dtype.type(epsilon))


def _scaled(x: np.ndarray, scale: Optional[np.ndarray], bias: Optional[np.ndarray]) -> np.ndarray:
    scaled = x if scale is None else x * scale
    return scaled if bias is None else scaled + bias


def _per_channel(values: np.ndarray, rank: int) -> np.ndarray:
    """A vector of one value per channel, shaped to broadcast with [batch, channels, ...]."""
    return values.reshape(-1, *[1] * (rank - 2))


def _require_shape(label: str, name: str, operand: TensorType, dims: Sequence[Dim]) -> None:
    require(label, operand.rank == len(dims), f"{name} has rank {operand.rank} but must have {len(dims)}")
    for axis, dim in enumerate(dims):
        require_equal_dims(label, operand.dim(axis), dim, f"{name} dim {axis}", "the matching dim of x")


def _check_trailing(x: TensorType, axis: int, **weights: Optional[TensorType]) -> None:
    """Constraints c1 to c3 of the norms over trailing axes."""
    given = {name: operand for name, operand in weights.items() if operand is not None}
    require_same_dtype("c1", x=x, **given)
    first = normalize_axis("c2", axis, x.rank)
    for name, operand in given.items():
        _require_shape("c3", name, operand, x.shape[first:])
