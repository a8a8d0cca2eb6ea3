"""Importers of poolings. Global ones become reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.windows import read_window


@importer("MaxPool")
def import_max_pool(node: NodeContext) -> ir.Value:
    if node.uses_output(1):
        node.unsupported("the output of indices is not supported")
    return dl.max_pool(node.value(0), **_pool_attributes(node))


@importer("AveragePool")
def import_average_pool(node: NodeContext) -> ir.Value:
    include = bool(node.attribute("count_include_pad", 0))
    return dl.avg_pool(node.value(0), count_include_pad=include, **_pool_attributes(node))


@importer("LpPool")
def import_lp_pool(node: NodeContext) -> ir.Value:
    """The p-th root of the sum of p-th powers: of a mean over all taps, times their number."""
    attributes = _pool_attributes(node)
    if attributes["ceil_mode"]:
        node.unsupported("ceil_mode of LpPool is not supported")
    taps = math.prod(attributes["kernel"])

    def total(powers: ir.Value) -> ir.Value:
        mean = dl.avg_pool(powers, count_include_pad=True, **attributes)
        return dl.mul(mean, node.constant_value(taps, type_of_value(powers).dtype))

    return lp_norm(node, node.value(0), total)


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
    if power == 1:
        return total(dl.abs(x))
    if power == 2:
        return dl.sqrt(total(dl.mul(x, x)))
    dtype = type_of_value(x).dtype
    powers = dl.pow(dl.abs(x), node.constant_value(power, dtype))
    return dl.pow(total(powers), node.constant_value(1 / power, dtype))


def _spatial_axes(node: NodeContext) -> list[int]:
    return list(range(2, node.rank(0)))


def _pool_attributes(node: NodeContext) -> dict[str, Any]:
    kernel = node.attribute("kernel_shape")
    sizes = node.type(0).shape[2:]
    if not kernel or len(kernel) != len(sizes):
        node.unsupported(f"kernel_shape {kernel} does not fit an input with {len(sizes)} spatial axes")
    window = read_window(node, sizes, tuple(kernel))
    return {"kernel": kernel, "ceil_mode": bool(node.attribute("ceil_mode", 0)), **window.keywords()}
