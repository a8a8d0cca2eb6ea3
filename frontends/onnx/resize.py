"""Importers of Resize and Upsample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.resampling import antialiased, cropped, resampled
from dlc.frontends.onnx.shape_values import MOST_FILLED, list_length, list_value
from dlc.frontends.onnx.widening import in_floats

_MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}
_POLICIES = ("stretch", "not_larger", "not_smaller")
_CROP = "tf_crop_and_resize"
_COORDINATES = {_CROP, "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners"}


@importer("Upsample")
def import_upsample(node: NodeContext) -> ir.Value:
    """Nearest takes the element before; coordinates are asymmetric."""
    return _upsampled(node) if _mode(node) == "nearest" else in_floats(node, _upsampled, rounded=True)


def _upsampled(node: NodeContext) -> ir.Value:
    scales = node.attribute("scales")
    return _scaled_by_input(node) if scales is None else _scaled(node, scales)


@importer("Resize")
def import_resize(node: NodeContext) -> ir.Value:
    """Integers that are combined are so in floats, and rounded, as ONNX's reference does."""
    return _resized(node) if _mode(node) == "nearest" else in_floats(node, _resized, rounded=True)


def _resized(node: NodeContext) -> ir.Value:
    if node.opset == 10:
        return _scaled_by_input(node)
    coordinates = node.attribute("coordinate_transformation_mode", "half_pixel")
    if coordinates not in _COORDINATES:
        node.unsupported(f"coordinate_transformation_mode {coordinates} is not supported")
    axes = node.attribute("axes") or list(range(node.rank(0)))
    if any(not -node.rank(0) <= axis < node.rank(0) for axis in axes):
        node.unsupported(f"axes {list(axes)} are out of range for rank {node.rank(0)}")
    axes = [axis % node.rank(0) for axis in axes]
    unknown = next((index for index in (2, 3) if node.has_input(index) and node.constant(index) is None), None)
    if unknown is not None:
        if coordinates == _CROP or (node.attribute("antialias", 0) and _mode(node) != "nearest"):
            node.unknown(unknown, f"its scales or sizes (input {unknown}) must be known at compile time")
        return _resized_at_run_time(node, axes, coordinates)
    scales = _list(node, 2, "scales")
    if scales and node.has_input(3) and node.type(3).shape != (0,):
        node.unsupported("it has scales and sizes (inputs 2 and 3); give one of them")
    sizes = [int(size) for size in _list(node, 3, "sizes")] if not scales else []
    _require_one_each(node, axes, scales or sizes, "scales" if scales else "sizes")
    if sizes:
        sizes, scales = _with_aspect_ratio(node, axes, sizes)
    if coordinates == _CROP:
        return _cropped(node, axes, sizes, scales)
    kept = [i for i, axis in enumerate(axes) if not _is_unchanged(node, axis, sizes[i : i + 1], scales[i : i + 1])]
    if _shrinks_smoothly(node, axes, kept, sizes, scales):
        return _antialiased(node, axes, kept, sizes, scales)
    if not kept:
        return node.value(0)
    return dl.resize(
        node.value(0),
        axes=[axes[i] for i in kept],
        sizes=[sizes[i] for i in kept] if sizes else [],
        scales=[scales[i] for i in kept] if scales else [],
        coordinates=coordinates,
        **_interpolation(node),
    )


def _resized_at_run_time(node: NodeContext, axes: Sequence[int], coordinates: str) -> ir.Value:
    """Sizes, or scales and the sizes that they give, as values."""
    by_scales = node.has_input(2) and node.type(2).shape != (0,)
    count = list_length(node, 2 if by_scales else 3, "the number of resized axes")
    if count != len(axes):
        node.unsupported(f"{count} sizes or scales do not fit the axes {list(axes)}")
    dims = dl.gather(dl.shape_of(node.value(0)), node.constant_value(np.array(axes), "i64"), axis=0)
    if by_scales:
        scales: ir.Value | None = dl.cast(node.value(2), to="f32")
        sizes = _scaled_sizes(dims, node.value(2))
    else:
        sizes, scales = _sizes_with_aspect_ratio(node, dims)
    found: ir.Value = dl.dynamic_resize(
        node.value(0), sizes, scales, axes=list(axes), coordinates=coordinates, **_interpolation(node)
    )
    return found


def _scaled_sizes(dims: ir.Value, scales: ir.Value) -> ir.Value:
    """floor(dim * scale), in f32."""
    found: ir.Value = dl.cast(dl.floor(dl.mul(dl.cast(dims, to="f32"), dl.cast(scales, to="f32"))), to="i64")
    return found


def _sizes_with_aspect_ratio(node: NodeContext, dims: ir.Value) -> tuple[ir.Value, ir.Value | None]:
    """As `_with_aspect_ratio`, of values."""
    sizes, policy = list_value(node, 3), node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes, None
    own, count = dl.cast(dims, to="f64"), list_length(node, 3, "the number of resized axes")
    choose = dl.reduce_min if policy == "not_larger" else dl.reduce_max
    scale = choose(dl.div(dl.cast(sizes, to="f64"), own), axes=[0], keepdims=True)
    grown = dl.floor(dl.add(dl.mul(scale, own), node.constant_value(0.5, "f64")))
    return dl.cast(grown, to="i64"), dl.expand(dl.cast(scale, to="f32"), shape=[count])


def _scaled_by_input(node: NodeContext) -> ir.Value:
    """The older opsets with scales as input 1: those that run time knows grow axes first, then shrink others."""
    known = node.constant(1)
    if known is not None:
        return _scaled(node, known.tolist())
    x, rank, mode = node.value(0), list_length(node, 1, "the number of resized axes"), _mode(node)
    if rank != node.rank(0):
        node.unsupported(f"scales has {rank} numbers for {node.rank(0)} axes; give one for each")
    scales, one = dl.cast(node.value(1), to="f32"), node.constant_value(1, "f32")
    for rounding, factors in (("floor", dl.max(scales, one)), ("ceil", dl.min(scales, one))):
        sizes = _scaled_sizes(dl.shape_of(x), factors)
        given = {"axes": list(range(rank)), "mode": mode, "coordinates": "asymmetric", "rounding": rounding}
        x = dl.dynamic_resize(x, sizes, factors, **given)
    return x


def _scaled(node: NodeContext, scales: Sequence[float]) -> ir.Value:
    """The older opsets: nearest rounds down along axes that grow, and up along those that shrink."""
    _require_one_each(node, list(range(node.rank(0))), scales, "scales")
    x = node.value(0)
    mode = _mode(node)
    for rounding, axes in (
        ("floor", [axis for axis, scale in enumerate(scales) if scale > 1]),
        ("ceil", [axis for axis, scale in enumerate(scales) if scale < 1]),
    ):
        if axes:
            factors = [scales[axis] for axis in axes]
            x = dl.resize(x, axes=axes, scales=factors, mode=mode, coordinates="asymmetric", rounding=rounding)
    return x


def _mode(node: NodeContext) -> str:
    mode = node.attribute("mode", "nearest")
    if mode not in _MODES:
        node.unsupported(f"mode {mode} is not supported")
    return _MODES[mode]


def _interpolation(node: NodeContext) -> dict[str, Any]:
    """Attributes of dl.resize that say how elements are combined."""
    mode = _mode(node)
    if mode == "nearest":
        return {"mode": mode, "rounding": node.attribute("nearest_mode", "round_prefer_floor")}
    if mode == "linear":
        return {"mode": mode}
    return {
        "mode": mode,
        "cubic_coefficient": float(node.attribute("cubic_coeff_a", -0.75)),
        "exclude_outside": bool(node.attribute("exclude_outside", 0)),
    }


def _require_one_each(node: NodeContext, axes: Sequence[int], numbers: Sequence[float], what: str) -> None:
    if len(numbers) != len(axes):
        node.unsupported(f"{what} has {len(numbers)} numbers for {len(axes)} axes; give one for each")


def _list(node: NodeContext, index: int, what: str) -> list[float]:
    """Numbers of an input that must be known; none where it is absent or empty."""
    return np.asarray(node.required_constant(index, what), np.float64).tolist() if node.has_input(index) else []


def _with_aspect_ratio(node: NodeContext, axes: Sequence[int], sizes: list[int]) -> tuple[list[int], list[float]]:
    """Sizes and scales under the node's policy: with `stretch` the sizes alone, else those that one scale gives."""
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes, []
    dims = [node.type(0).shape[axis] for axis in axes]
    if not all(isinstance(dim, int) for dim in dims):
        node.unsupported(f"keep_aspect_ratio_policy {policy} needs dims known at compile time")
    if policy not in _POLICIES or 0 in dims:
        node.unsupported(f"keep_aspect_ratio_policy {policy} needs dims other than 0 and may be one of {', '.join(_POLICIES)}")
    own = [int(str(dim)) for dim in dims]
    choose = min if policy == "not_larger" else max
    scale = choose(size / dim for size, dim in zip(sizes, own, strict=True))
    return [int(np.floor(scale * dim + 0.5)) for dim in own], [scale] * len(own)


def _is_unchanged(node: NodeContext, axis: int, size: list[int], scale: list[float]) -> bool:
    """True for an axis that keeps its size: every coordinate mode then reads each element where it stands."""
    return (not scale or scale[0] == 1) and (not size or size[0] == node.type(0).shape[axis])


def _shrinks_smoothly(
    node: NodeContext, axes: Sequence[int], kept: Sequence[int], sizes: Sequence[int], scales: Sequence[float]
) -> bool:
    """Whether antialiasing is asked for, an axis shrinks, and there is a result: else it changes nothing."""
    dims = {i: node.type(0).shape[axes[i]] for i in kept}
    is_empty = any(0 in (sizes[i] if sizes else 1, dim if sizes else _scaled_size(dim, scales[i])) for i, dim in dims.items())
    if not node.attribute("antialias", 0) or _mode(node) == "nearest" or is_empty:
        return False
    return any(not (scales[i] >= 1 if scales else isinstance(dim, int) and sizes[i] >= dim) for i, dim in dims.items())


def _antialiased(
    node: NodeContext, axes: Sequence[int], kept: Sequence[int], sizes: Sequence[int], scales: Sequence[float]
) -> ir.Value:
    coordinates, rest = node.attribute("coordinate_transformation_mode", "half_pixel"), _interpolation(node)
    tables = {}
    for i in kept:
        before, after, scale = _lengths(node, axes, sizes, scales, i)
        tables[axes[i]] = antialiased(before, after, scale, coordinates, _mode(node), rest)
    return resampled(node, node.value(0), tables)


def _cropped(node: NodeContext, axes: Sequence[int], sizes: Sequence[int], scales: Sequence[float]) -> ir.Value:
    """A region of each axis, in shares of it: all starts, then all ends."""
    region = _list(node, 1, "roi")
    if len(region) != 2 * len(axes):
        node.unsupported(f"roi has {len(region)} numbers for {len(axes)} axes")
    if not np.isfinite(region).all():
        node.unsupported(f"its region (roi, input 1) is {region}; give finite numbers")
    rest, tables = {"exclude_outside": False, "cubic_coefficient": -0.75, "rounding": "floor", **_interpolation(node)}, {}
    for i, axis in enumerate(axes):
        before, after, _ = _lengths(node, axes, sizes, scales, i)
        if (before, region[i], region[i + len(axes)]) != (after, 0, 1):
            tables[axis] = cropped(before, after, (region[i], region[i + len(axes)]), _mode(node), rest)
    return resampled(node, node.value(0), tables, float(node.attribute("extrapolation_value", 0.0)))


def _lengths(
    node: NodeContext, axes: Sequence[int], sizes: Sequence[int], scales: Sequence[float], i: int
) -> tuple[int, int, float]:
    """The dim of axis i before and after, which must be known, and the scale."""
    before = node.type(0).shape[axes[i]]
    if not isinstance(before, int) or before == 0:
        node.unsupported(f"axis {axes[i]} must have a size that is known at compile time, and elements")
    after = sizes[i] if sizes else _scaled_size(before, scales[i])
    if after is None or after < 0:
        node.unsupported(f"axis {axes[i]} of {before} elements has no size {sizes[i : i + 1]} or scale {scales[i : i + 1]}")
    scale = scales[i] if scales else after / before
    if after > min(scale, 1) * MOST_FILLED:
        node.unsupported(f"axis {axes[i]} would have {after} elements from {before}, too many for a table made at import")
    return before, after, scale


def _scaled_size(dim: Dim, scale: float) -> int | None:
    """floor(dim * scale), in f32; None where that is not known, or no number."""
    product = np.floor(np.float32(dim) * np.float32(scale)) if isinstance(dim, int) else np.float32(np.nan)
    return int(product) if np.isfinite(product) else None
