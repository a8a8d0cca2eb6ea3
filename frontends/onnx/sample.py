"""Importers of ops that read images between their elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, Shape
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import list_length, list_value
from dlc.frontends.onnx.widening import in_floats
from dlc.frontends.onnx.windows import WindowAttributes, read_window

_MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic", "bicubic": "cubic"}
"""Before opset 20 linear and cubic have the names of their forms with two axes."""


@importer("GridSample")
def import_grid_sample(node: NodeContext) -> ir.Value:
    """Integers that are combined are so in floats, and rounded, as those of Resize are."""
    mode = node.attribute("mode", "linear")
    if mode not in _MODES:
        node.unsupported(f"mode {mode} is not supported (supported: {', '.join(_MODES)})")
    is_moved = _MODES[mode] == "nearest" and node.type(0).dtype != "i1"
    return _grid_sample(node) if is_moved else in_floats(node, _grid_sample, rounded=True)


def _grid_sample(node: NodeContext) -> ir.Value:
    mode = node.attribute("mode", "linear")
    return dl.grid_sample(
        node.value(0),
        node.value(1),
        mode=_MODES[mode],
        padding=node.attribute("padding_mode", "zeros"),
        coordinates="align_corners" if node.attribute("align_corners", 0) else "half_pixel",
    )


@importer("AffineGrid")
def import_affine_grid(node: NodeContext) -> ir.Value:
    """The places of an image's elements, times each matrix of theta."""
    kind, align_corners = node.type(0), bool(node.attribute("align_corners", 0))
    if node.constant(1) is None:
        return _affine_grid_at_run_time(node, align_corners)
    size = [int(dim) for dim in node.required_constant(1, "size").reshape(-1)]
    if kind.rank != 3 or len(size) not in (4, 5) or kind.shape[1:] != (len(size) - 2, len(size) - 1):
        node.unsupported(f"theta is {kind}, which is no matrix for each image of size {size}")
    wide = "f64" if kind.dtype == "f64" else "f32"
    places = _image_places(size[2:], align_corners).astype(NUMPY_DTYPES[wide])
    theta = dl.transpose(dl.cast(node.value(0), to=wide), perm=[0, 2, 1])
    found = dl.matmul(node.new_param(places, f"{node.node.output[0]}_places"), theta)
    grid = dl.reshape(found, shape=[size[0], *size[2:], len(size) - 2])
    return grid if kind.dtype == wide else dl.cast(grid, to=kind.dtype)


def _image_places(sizes: Sequence[int], align_corners: bool) -> np.ndarray:
    """[elements, axes + 1]: where each element of an image lies between -1 and 1, the last axis first, and a 1."""
    axes = []
    for size in sizes:
        at = np.arange(size)
        first = 0 if size == 1 else -1  # corners meet in the middle
        axes.append(2 * at / max(size - 1, 1) + first if align_corners else (2 * at + 1) / max(size, 1) - 1)
    grids = np.meshgrid(*axes, indexing="ij")
    return np.stack([grid.reshape(-1) for grid in (*reversed(grids), np.ones(sizes))], -1)


def _affine_grid_at_run_time(node: NodeContext, align_corners: bool) -> ir.Value:
    """The same for a size that is a value: the places along each axis, repeated along the others, and joined."""
    kind, count = node.type(0), list_length(node, 1, "the number of an image's axes")
    axes = count - 2
    if kind.rank != 3 or axes not in (2, 3) or kind.shape[1:] != (axes, axes + 1):
        node.unsupported(f"theta is {kind}, which is no matrix for each image of {count} sizes")
    wide, zero = "f64" if kind.dtype == "f64" else "f32", node.constant_value(np.zeros(1), "i64")
    given = list_value(node, 1)
    given = dl.assert_(given, dl.less_equal(zero, given), message="a size is negative")
    sizes, one = _part(given, 2, count), node.constant_value(np.ones(1), "i64")
    columns = []
    for axis in reversed(range(axes)):
        places = _places_along(node, dl.reshape(_part(sizes, axis, axis + 1), shape=[]), wide, align_corners)
        spread = dl.unsqueeze(places, axes=[other for other in range(axes + 1) if other != axis])
        columns.append(dl.expand(spread, dl.concat(sizes, one, axis=0), shape=[*[-1] * axes, 1]))
    columns.append(dl.expand(node.constant_value(1, wide), dl.concat(sizes, one, axis=0), shape=[*[-1] * axes, 1]))
    table = dl.reshape(functools.reduce(lambda left, right: dl.concat(left, right, axis=axes), columns), shape=[-1, axes + 1])
    found = dl.matmul(table, dl.transpose(dl.cast(node.value(0), to=wide), perm=[0, 2, 1]))
    ends = node.constant_value(np.array([axes]), "i64")
    shape = dl.concat(dl.concat(_part(given, 0, 1), sizes, axis=0), ends, axis=0)
    grid: ir.Value = dl.reshape(found, shape, shape=[*[-1] * (axes + 1), axes])
    return grid if kind.dtype == wide else dl.cast(grid, to=kind.dtype)


def _part(values: ir.Value, start: int, end: int) -> ir.Value:
    """Elements of a list."""
    found: ir.Value = dl.slice(values, starts=[start], ends=[end], axes=[0], steps=[1])
    return found


def _places_along(node: NodeContext, size: ir.Value, dtype: str, align_corners: bool) -> ir.Value:
    """`_image_places` along one axis, whose size is a scalar."""
    zero, one, two = (node.constant_value(number, "i64") for number in (0, 1, 2))
    at = dl.mul(dl.range(zero, size, one), two)
    at, least = (at, dl.sub(size, one)) if align_corners else (dl.add(at, one), size)
    steps = dl.max(least, one)
    back = node.constant_value(1, dtype)
    if align_corners:
        back = dl.where(dl.equal(size, one), node.constant_value(0, dtype), back)
    found: ir.Value = dl.sub(dl.div(dl.cast(at, to=dtype), dl.cast(steps, to=dtype)), back)
    return found


@importer("DeformConv")
def import_deform_conv(node: NodeContext) -> ir.Value:
    """Images sampled where each tap is moved to; what the taps read are channels of a convolution with one tap."""
    x, weight, offset = node.type(0), node.type(1), node.type(2)
    if x.rank != 4 or not (x.is_static and weight.is_static and offset.is_static):
        node.unsupported(f"its inputs are {x}, {weight} and {offset}, but must be images with dims known at compile time")
    count = _product(weight.shape[2:])
    found = _sampled_taps(node, count)
    kernel = dl.reshape(node.value(1), shape=[_product(weight.shape[:1]), _product(weight.shape[1:]), 1, 1])
    return dl.conv(found, kernel, node.optional_value(3), groups=int(node.attribute("group", 1)))


def _sampled_taps(node: NodeContext, count: int) -> ir.Value:
    """[batch, channels * taps, rows, columns]: what each of `count` taps reads of each channel, times the mask."""
    x, weight, offset = node.type(0), node.type(1), node.type(2)
    groups = int(node.attribute("offset_group", 1))
    batch, channels, height, width = (_product((dim,)) for dim in x.shape)
    places = [_product((dim,)) for dim in offset.shape[2:]]
    if offset.shape[1] != groups * count * 2 or channels % groups:
        node.unsupported(f"offset is {offset}, but {groups} groups of {count} taps need {groups * count * 2} channels")
    dtype = x.dtype if x.dtype == "f64" else "f32"
    moves = dl.reshape(node.value(2), shape=[batch * groups, count, 2, *places])
    moves = dl.slice(dl.transpose(moves, perm=[0, 1, 3, 4, 2]), None, starts=[1], ends=[-3], axes=[4], steps=[-1])
    base = _tap_places(read_window(node, x.shape[2:], weight.shape[2:]), weight.shape[2:], places)
    start = node.new_param(base.astype(NUMPY_DTYPES[dtype]), f"{node.node.output[0]}_places")
    grid = dl.reshape(dl.add(dl.cast(moves, to=dtype), start), shape=[batch * groups, count * places[0], places[1], 2])
    images = dl.reshape(node.value(0), shape=[batch * groups, channels // groups, height, width])
    found = dl.grid_sample(images, grid, coordinates="pixels")
    if node.has_input(4):
        found = dl.reshape(found, shape=[batch, groups, channels // groups, count, *places])
        found = dl.mul(found, dl.reshape(node.value(4), shape=[batch, groups, 1, count, *places]))
    return dl.reshape(found, shape=[batch, channels * count, *places])


def _tap_places(window: WindowAttributes, taps: Shape, places: Sequence[int]) -> np.ndarray:
    """[taps, rows, columns, 2]: the column and the row that each tap reads where it is not moved."""
    axes = []
    for axis, count in enumerate(taps):
        tap = np.arange(_product((count,))) * window.dilations[axis]
        place = np.arange(places[axis]) * window.strides[axis] - window.pads[axis]
        axes.append(tap[:, None] + place)
    rows, columns = np.broadcast_arrays(axes[0][:, None, :, None], axes[1][None, :, None, :])
    return np.stack([columns, rows], -1).reshape(-1, *places, 2)


def _product(dims: Shape) -> int:
    """The product of dims that are known."""
    return math.prod(dim for dim in dims if isinstance(dim, int))
