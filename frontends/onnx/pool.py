"""Importers of poolings. Global ones become reductions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.windows import read_window


@importer("MaxPool")
def import_max_pool(node: NodeContext) -> Sequence[ir.Value]:
    """Values, and where they are asked for their places."""
    x, attributes = node.value(0), _pool_attributes(node)
    values = dl.max_pool(x, **attributes)
    if not node.uses_output(1):
        return [values]
    return [values, dl.arg_max_pool(x, column_major=bool(node.attribute("storage_order", 0)), **attributes)]


@importer("MaxUnpool")
def import_max_unpool(node: NodeContext) -> ir.Value:
    """Zeros with the elements of x at their places, which count elements of the shape that the window gives."""
    kind, kernel = node.type(0), node.attribute("kernel_shape") or []
    if not kind.is_static:
        node.unknown(0, f"its input is {kind}, but its dims must be known at compile time", of_dims=True)
    sizes = [int(str(dim)) for dim in kind.shape]
    if len(kernel) != len(sizes) - 2:
        node.unsupported(f"kernel_shape {kernel} does not fit an input with {len(sizes) - 2} spatial axes")
    window = read_window(node, kind.shape[2:], tuple(kernel))
    rank = len(kernel)
    shape = sizes[:2]
    for axis, size in enumerate(sizes[2:]):
        shape.append((size - 1) * window.strides[axis] + kernel[axis] - window.pads[axis] - window.pads[rank + axis])
    zeros = dl.expand(node.constant_value(0, kind.dtype), None, shape=[math.prod(shape)])
    places, values = (dl.reshape(node.value(index), shape=[math.prod(sizes)]) for index in (1, 0))
    return _grown(node, dl.reshape(dl.scatter_elements(zeros, places, values), shape=shape), shape)


def _grown(node: NodeContext, x: ir.Value, shape: Sequence[int]) -> ir.Value:
    """x with zeros behind it along each axis, as far as the node's output_shape asks for."""
    if not node.has_input(2):
        return x
    wanted = [int(size) for size in node.required_constant(2, "output_shape").reshape(-1)]
    if len(wanted) != len(shape):
        node.unsupported(f"output_shape {wanted} has {len(wanted)} entries but its input has rank {len(shape)}")
    return dl.pad(x, None, low=[0] * len(shape), high=[want - have for want, have in zip(wanted, shape, strict=True)])


@importer("AveragePool")
def import_average_pool(node: NodeContext) -> ir.Value:
    include = bool(node.attribute("count_include_pad", 0))
    return dl.avg_pool(node.value(0), count_include_pad=include, **_pool_attributes(node))


@importer("LpPool")
def import_lp_pool(node: NodeContext) -> ir.Value:
    """The p-th root of the sum of p-th powers: of a mean over all taps, times their number."""
    attributes = _with_padding_for_ceil(node, _pool_attributes(node))
    taps = math.prod(attributes["kernel"])

    def total(powers: ir.Value) -> ir.Value:
        mean = dl.avg_pool(powers, count_include_pad=True, **attributes)
        return dl.mul(mean, node.constant_value(taps, type_of_value(powers).dtype))

    return lp_norm(node, node.value(0), total)


def _with_padding_for_ceil(node: NodeContext, attributes: dict[str, Any]) -> dict[str, Any]:
    """The same windows without ceil_mode: zeros behind x, which add nothing to a sum, let the last ones lie inside."""
    if not attributes["ceil_mode"]:
        return attributes
    if min(attributes["strides"]) < 1:
        node.unsupported(f"strides {attributes['strides']} must be 1 or more")
    sizes, rank = node.type(0).shape[2:], len(attributes["kernel"])
    pads = list(attributes["pads"])
    for axis, size in enumerate(sizes):
        if not isinstance(size, int):
            node.unsupported("ceil_mode of LpPool needs spatial dims that are known at compile time")
        stride, before = attributes["strides"][axis], pads[axis]
        reach = (attributes["kernel"][axis] - 1) * attributes["dilations"][axis] + 1
        steps = max(-(-(size + before + pads[rank + axis] - reach) // stride), 0)
        if steps * stride >= size + before:  # a window that begins in the padding does not count
            steps -= 1
        pads[rank + axis] = max(steps * stride + reach - size - before, 0)
    return {**attributes, "pads": pads, "ceil_mode": False}


@importer("GlobalAveragePool")
def import_global_average_pool(node: NodeContext) -> ir.Value:
    return dl.reduce_mean(node.value(0), axes=_spatial_axes(node), keepdims=True)


@importer("GlobalMaxPool")
def import_global_max_pool(node: NodeContext) -> ir.Value:
    return dl.reduce_max(node.value(0), axes=_spatial_axes(node), keepdims=True)


@importer("GlobalLpPool")
def import_global_lp_pool(node: NodeContext) -> ir.Value:
    axes = _spatial_axes(node)
    return lp_norm(node, node.value(0), lambda powers: dl.reduce_sum(powers, axes=axes, keepdims=True))


def lp_norm(node: NodeContext, x: ir.Value, total: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """(sum of |x| ** p) ** (1 / p), where `total` builds the sum and p is the node's attribute."""
    power = int(node.attribute("p", 2))
    if power == 0:
        node.unsupported("p is 0, of which there is no norm; give it 1 or more")
    if power == 1:
        return total(dl.abs(x))
    if power == 2:
        return dl.sqrt(total(dl.mul(x, x)))
    dtype = type_of_value(x).dtype
    powers = dl.pow(dl.abs(x), node.constant_value(power, dtype))
    return dl.pow(total(powers), node.constant_value(1 / power, dtype))


def _spatial_axes(node: NodeContext) -> list[int]:
    """The axes behind batch and channels, at least one."""
    rank = node.rank(0)
    if rank < 3:
        node.unsupported(f"its input has rank {rank}; it must have a batch, channels and spatial axes, so rank 3 or more")
    return list(range(2, rank))


def _pool_attributes(node: NodeContext) -> dict[str, Any]:
    kernel = node.attribute("kernel_shape")
    sizes = node.type(0).shape[2:]
    if not kernel or len(kernel) != len(sizes):
        node.unsupported(f"kernel_shape {kernel} does not fit an input with {len(sizes)} spatial axes")
    window = read_window(node, sizes, tuple(kernel))
    return {"kernel": kernel, "ceil_mode": bool(node.attribute("ceil_mode", 0)), **window.keywords()}
