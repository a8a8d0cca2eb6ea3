"""Forms of Resize whose axes are sampled by tables that are known at import: crops of a region, and antialiasing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.resize_taps import coordinates_of, taps_of
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.node import NodeContext

_MOST_GATHERS = 16
"""Elements of a point up to which each is gathered; with more, the axis is multiplied by a matrix of weights."""


@dataclass(frozen=True)
class AxisTable:
    """What each point of an axis combines: positions [elements, points] in x, and weights of the same shape; none for nearest.

    Points that are `outside` get another value.
    """

    positions: np.ndarray
    weights: np.ndarray | None
    outside: np.ndarray | None = None


def cropped(before: int, after: int, region: Sequence[float], mode: str, rest: Mapping[str, object]) -> AxisTable:
    """Samples at even distances from the start to the end of a region, which are shares of the axis (tf_crop_and_resize)."""
    start, end = (np.float32(edge) * np.float32(before - 1) for edge in region)
    step = (end - start) / np.float32(max(after - 1, 1))
    at = start + np.arange(after).astype(np.float32) * step if after > 1 else np.full(after, (start + end) / np.float32(2))
    positions, weights = taps_of(at, before, mode, rest)
    return AxisTable(np.stack(positions), None if mode == "nearest" else np.stack(weights), (at < 0) | (at > before - 1))


def antialiased(before: int, after: int, scale: float, coordinates: str, mode: str, rest: Mapping[str, object]) -> AxisTable:
    """Linear or cubic weights over as many elements more as the axis shrinks, so that each counts; their sum is 1."""
    factor = np.float32(min(scale, 1.0))
    at = coordinates_of(before, after, np.float32(before) * np.float32(scale), np.float32(scale), coordinates).astype(np.float64)
    base = np.ceil(at) - 1
    first = int(np.floor(-(1 if mode == "linear" else 2) / factor) + 1)
    steps = np.arange(first, 2 - first)[:, None]
    weights = _kernel(mode, float(str(rest.get("cubic_coefficient", 0.0))))(np.abs(factor * (steps - (at - base))))
    places = (base + steps).astype(np.int64)
    if rest.get("exclude_outside"):
        weights = np.where((places >= 0) & (places < before), weights, 0)
    return AxisTable(np.clip(places, 0, before - 1), weights / weights.sum(0))


def _kernel(mode: str, a: float) -> Callable[[np.ndarray], np.ndarray]:
    """The weight of an element at a distance: a triangle, or the cubic convolution kernel with coefficient `a`."""
    if mode == "linear":
        return lambda t: np.clip(1 - t, 0, 1)
    return lambda t: np.where(
        t <= 1, ((a + 2) * t - (a + 3)) * t * t + 1, np.where(t < 2, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a, 0.0)
    )


def resampled(node: NodeContext, x: ir.Value, tables: Mapping[int, AxisTable], fill: float = 0.0) -> ir.Value:
    """x with axes sampled by tables, one after another; `fill` is the value of points outside of one of them."""
    dtype = type_of_value(x).dtype
    if dtype not in FLOATS and any(table.weights is not None for table in tables.values()):
        node.unsupported(f"elements of {dtype} are combined, but must be floats")
    wide = "f32" if dtype in ("f16", "bf16") else dtype
    found = x if wide == dtype else dl.cast(x, to=wide)
    for axis, table in tables.items():
        found = _sampled(node, found, axis, table)
    for axis, table in tables.items():
        if table.outside is not None and table.outside.any():
            shape = [1] * type_of_value(x).rank
            shape[axis] = -1
            hidden = node.new_param(table.outside.reshape(shape), _name(node, axis, "outside"))
            found = dl.where(hidden, node.constant_value(fill, wide), found)
    return found if wide == dtype else dl.cast(found, to=dtype)


def _sampled(node: NodeContext, x: ir.Value, axis: int, table: AxisTable) -> ir.Value:
    kind = type_of_value(x)
    if table.weights is None:
        return dl.gather(x, node.new_param(table.positions[0], _name(node, axis, "places")), axis=axis)
    weights = table.weights.astype(NUMPY_DTYPES[kind.dtype])
    if len(weights) > _MOST_GATHERS:
        return _multiplied(node, x, axis, table.positions, weights)
    shape = [1] * kind.rank
    shape[axis] = -1
    total = None
    for at, (places, shares) in enumerate(zip(table.positions, weights, strict=True)):
        part = dl.gather(x, node.new_param(places, _name(node, axis, f"places_{at}")), axis=axis)
        part = dl.mul(part, node.new_param(shares.reshape(shape), _name(node, axis, f"weights_{at}")))
        total = part if total is None else dl.add(total, part)
    return total


def _multiplied(node: NodeContext, x: ir.Value, axis: int, positions: np.ndarray, weights: np.ndarray) -> ir.Value:
    """The axis times the matrix of what each element counts in each point."""
    kind = type_of_value(x)
    matrix = np.zeros((int(str(kind.shape[axis])), positions.shape[1]), weights.dtype)
    np.add.at(matrix, (positions, np.arange(positions.shape[1])), weights)
    last = kind.rank - 1
    order = [last if place == axis else axis if place == last else place for place in range(kind.rank)]
    found = dl.matmul(dl.transpose(x, perm=order), node.new_param(matrix, _name(node, axis, "weights")))
    return dl.transpose(found, perm=order)


def _name(node: NodeContext, axis: int, what: str) -> str:
    return f"{node.node.output[0]}_axis_{axis}_{what}"
