"""Importers of normalisations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.elementwise import dtype_of_onnx
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.pool import lp_norm

_PER_AXIS_SINCE = 13
"""Opset from which softmax works along one axis; before, over all axes from its axis on."""


@importer("Softmax")
def import_softmax(node: NodeContext) -> ir.Value:
    x = node.value(0)
    axes = _softmax_axes(node)
    if len(axes) == 1:
        return dl.softmax(x, axis=axes[0])
    powers = dl.exp(dl.sub(x, dl.reduce_max(x, axes=axes, keepdims=True)))
    return dl.div(powers, dl.reduce_sum(powers, axes=axes, keepdims=True))


@importer("LogSoftmax")
def import_log_softmax(node: NodeContext) -> ir.Value:
    x = node.value(0)
    axes = _softmax_axes(node)
    if len(axes) == 1:
        return dl.log_softmax(x, axis=axes[0])
    shifted = dl.sub(x, dl.reduce_max(x, axes=axes, keepdims=True))
    return dl.sub(shifted, dl.log(dl.reduce_sum(dl.exp(shifted), axes=axes, keepdims=True)))


def _softmax_axes(node: NodeContext) -> list[int]:
    """Axes over which results sum to one: `axis`, or before opset 13 all from it on but those of size 1."""
    kind = node.type(0)
    if node.opset >= _PER_AXIS_SINCE:
        return [int(node.attribute("axis", -1))]
    first = int(node.attribute("axis", 1))
    if not -kind.rank <= first < kind.rank:
        node.unsupported(f"axis {first} leaves none of {kind.rank} axes to normalise")
    axes = list(range(first % kind.rank, kind.rank))
    return [axis for axis in axes if kind.shape[axis] != 1] or axes[-1:]


@importer("Hardmax")
def import_hardmax(node: NodeContext) -> ir.Value:
    """One at the first largest element along an axis, else zero."""
    axes, kind = _softmax_axes(node), node.type(0)
    if not -kind.rank <= axes[0] < kind.rank:
        node.unsupported(f"axis {axes[0]} is out of range for rank {kind.rank}")
    size = kind.shape[axes[0]]
    if len(axes) > 1:
        node.unsupported("Hardmax of several axes is not supported")
    if not isinstance(size, int):
        node.unknown(0, "Hardmax needs an axis whose size is known at compile time", of_dims=True)
    places = np.arange(size).reshape(-1, *[1] * (kind.rank - 1 - axes[0] % kind.rank))
    largest = dl.arg_max(node.value(0), axis=axes[0], keepdims=True)
    return dl.cast(dl.equal(node.constant_value(places, "i64"), largest), to=kind.dtype)


@importer("BatchNormalization")
def import_batch_norm(node: NodeContext) -> list[ir.Value]:
    """In training mode the statistics are those of the batch, and the running ones are outputs."""
    if not node.attribute("spatial", 1):
        node.unsupported("batch normalisation per activation (spatial = 0) is not supported")
    operands = [node.value(index) for index in range(5)]
    dtypes = [type_of_value(value).dtype for value in operands]
    wide = _widest(set(dtypes))
    x, scale, bias, *running = (_as(value, wide) for value in operands)
    epsilon = node.attribute("epsilon", 1e-5)
    if not node.attribute("training_mode", 0):
        return [_as(dl.batch_norm(x, scale, bias, *running, epsilon=epsilon), dtypes[0])]
    statistics = _batch_statistics(x)
    result = dl.batch_norm(x, scale, bias, *statistics, epsilon=epsilon)
    kept = node.attribute("momentum", 0.9)
    old_share, new_share = (node.constant_value(share, wide) for share in (kept, 1 - kept))
    pairs = zip(running, statistics, strict=True)
    updated = [dl.add(dl.mul(old, old_share), dl.mul(new, new_share)) for old, new in pairs]
    return [_as(result, dtypes[0]), *(_as(value, dtypes[3]) for value in updated)]


def _batch_statistics(x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Mean and population variance of each channel."""
    axes = [axis for axis in range(x.type.rank) if axis != 1]
    distance = dl.sub(x, dl.reduce_mean(x, axes=axes, keepdims=True))
    return dl.reduce_mean(x, axes=axes), dl.reduce_mean(dl.mul(distance, distance), axes=axes)


def _as(value: ir.Value, dtype: str) -> ir.Value:
    return value if type_of_value(value).dtype == dtype else dl.cast(value, to=dtype)


def _widest(dtypes: set[str]) -> str:
    """The element type that holds all others: f64, f32, or the only one."""
    if len(dtypes) == 1:
        return next(iter(dtypes))
    return "f64" if "f64" in dtypes else "f32"


@importer("LayerNormalization")
def import_layer_norm(node: NodeContext) -> list[ir.Value]:
    """Weights that do not have the dims of the normalised axes are applied by ops of their own."""
    x, axis = node.value(0), _norm_axis(node)
    epsilon = node.attribute("epsilon", 1e-5)
    scale, bias = node.value(1), node.optional_value(2)
    if all(_fits(node, weight, axis) for weight in (scale, bias)):
        results = [dl.layer_norm(x, scale, bias, axis=axis, epsilon=epsilon)]
    else:
        scaled = dl.mul(dl.layer_norm(x, axis=axis, epsilon=epsilon), scale)
        results = [scaled if bias is None else dl.add(scaled, bias)]
    if any(node.uses_output(index) for index in (1, 2)):
        results += _statistics(node, axis, epsilon)
    return results


def _norm_axis(node: NodeContext) -> int:
    """The first axis that is normalised."""
    axis, rank = int(node.attribute("axis", -1)), node.rank(0)
    if not -rank <= axis < rank:
        node.unsupported(f"axis {axis} is out of range for rank {rank}")
    return axis


def _statistics(node: NodeContext, axis: int, epsilon: float) -> list[ir.Value]:
    """The mean and the inverse standard deviation, computed in f32 (f64 for f64), in the type that `stash_type` says."""
    kind = node.type(0)
    axes = list(range(axis % kind.rank, kind.rank))
    dtype = "f64" if kind.dtype == "f64" else "f32"
    x = _as(node.value(0), dtype)
    mean = dl.reduce_mean(x, axes=axes, keepdims=True)
    distance = dl.sub(x, mean)
    variance = dl.reduce_mean(dl.mul(distance, distance), axes=axes, keepdims=True)
    inverse, given = dl.rsqrt(dl.add(variance, node.constant_value(epsilon, dtype))), node.attribute("stash_type", 1)
    return [_as(each, dtype_of_onnx(node, given)) for each in (mean, inverse)]


@importer("RMSNormalization")
def import_rms_norm(node: NodeContext) -> ir.Value:
    x, scale, axis = node.value(0), node.value(1), _norm_axis(node)
    epsilon, dtype = node.attribute("epsilon", 1e-5), node.type(1).dtype
    if _fits(node, scale, axis):
        return dl.rms_norm(x, scale, axis=axis, epsilon=epsilon)
    normal = dl.rms_norm(x, axis=axis, epsilon=epsilon)
    return dl.mul(_as(normal, dtype), scale)


def _fits(node: NodeContext, weight: ir.Value | None, axis: int) -> bool:
    """True when a weight of a norm has x's element type and its dims from `axis` on."""
    if weight is None:
        return True
    x, kind = node.type(0), type_of_value(weight)
    dims = x.shape[axis % x.rank :]
    return (
        kind.dtype == x.dtype
        and kind.rank == len(dims)
        and all(own == dim or (own != 1 and None in (own, dim)) for own, dim in zip(kind.shape, dims, strict=True))
    )


@importer("InstanceNormalization")
def import_instance_norm(node: NodeContext) -> ir.Value:
    return dl.instance_norm(*node.values(), epsilon=node.attribute("epsilon", 1e-5))


@importer("GroupNormalization")
def import_group_norm(node: NodeContext) -> ir.Value:
    """Before opset 21 the weights have one element per group."""
    groups = int(node.attribute("num_groups"))
    weights = [_per_channel(node, index, groups) for index in (1, 2)]
    return dl.group_norm(node.value(0), *weights, num_groups=groups, epsilon=node.attribute("epsilon", 1e-5))


def _per_channel(node: NodeContext, index: int, groups: int) -> ir.Value:
    kind, weight = node.type(0), node.value(index)
    if node.opset >= 21:
        return weight
    channels = kind.shape[1] if kind.rank > 1 else None
    if groups < 1 or (isinstance(channels, int) and channels % groups):
        node.unsupported(f"num_groups is {groups}, which does not divide the channels of {kind}")
    if not isinstance(channels, int):
        node.unsupported("weights per group need a number of channels that is known at compile time")
    repeated = dl.expand(dl.unsqueeze(weight, axes=[1]), shape=[groups, channels // groups])
    return dl.reshape(repeated, shape=[channels])


@importer("MeanVarianceNormalization")
def import_mean_variance_norm(node: NodeContext) -> ir.Value:
    """(x - mean) / (standard deviation + 1e-9), as ONNX's function has it."""
    x, dtype, axes = node.value(0), node.type(0).dtype, node.attribute("axes") or [0, 2, 3]
    distance = dl.sub(x, dl.reduce_mean(x, axes=axes, keepdims=True))
    deviation = dl.sqrt(dl.reduce_mean(dl.mul(distance, distance), axes=axes, keepdims=True))
    return dl.div(distance, dl.add(deviation, node.constant_value(1e-9, dtype)))


@importer("LRN")
def import_lrn(node: NodeContext) -> ir.Value:
    return dl.lrn(
        node.value(0),
        size=int(node.attribute("size")),
        alpha=node.attribute("alpha", 1e-4),
        beta=node.attribute("beta", 0.75),
        bias=node.attribute("bias", 1.0),
    )


@importer("LpNormalization")
def import_lp_normalization(node: NodeContext) -> ir.Value:
    """x divided by its norm along an axis; zero where the norm is."""
    x, dtype = node.value(0), node.type(0).dtype
    axes = [int(node.attribute("axis", -1))]
    norm = lp_norm(node, x, _summed(axes))
    zero = node.constant_value(0, dtype)
    return dl.where(dl.equal(norm, zero), zero, dl.div(x, norm))


def _summed(axes: list[int]) -> Callable[[ir.Value], ir.Value]:
    return lambda powers: dl.reduce_sum(powers, axes=axes, keepdims=True)
