"""Importers of ops that join, cut and pad."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import Dim
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import attribute_or_input, ints, list_length, list_value, on_all_axes


@importer("Concat")
def import_concat(node: NodeContext) -> ir.Value:
    """A chain of joins; one input is the result itself."""
    axis = int(node.attribute("axis", 1))
    found: ir.Value = functools.reduce(lambda left, right: dl.concat(left, right, axis=axis), node.values())
    return found


@importer("Split")
def import_split(node: NodeContext) -> list[ir.Value]:
    """One slice per output."""
    axis = int(node.attribute("axis", 0))
    if not -node.rank(0) <= axis < node.rank(0):
        node.unsupported(f"axis {axis} is out of range for rank {node.rank(0)}")
    if node.has_input(1) and node.constant(1) is None:
        return _split_at_run_time(node, axis)
    sizes, dim = attribute_or_input(node, "split", 1), node.type(0).shape[axis]
    if sizes is None and not isinstance(dim, int):
        return _split_evenly_at_run_time(node, axis)
    if sizes is None:
        part = -(-int(str(dim)) // node.num_outputs)
        sizes = [part] * node.num_outputs
    else:
        _check_sizes(node, sizes, dim)
    ends = np.cumsum(sizes).tolist()
    return [_part(node, axis, end - size, end) for size, end in zip(sizes, ends, strict=True)]


def _check_sizes(node: NodeContext, sizes: Sequence[int], dim: Dim) -> None:
    """The sizes of parts must be as many as the outputs, not negative, and add up to the dim."""
    if len(sizes) != node.num_outputs or min(sizes, default=0) < 0:
        node.unsupported(f"split sizes {list(sizes)} do not fit {node.num_outputs} outputs")
    if isinstance(dim, int) and sum(sizes) != dim:
        node.unsupported(f"split sizes {list(sizes)} add up to {sum(sizes)} but the axis has {dim}")


def _part(node: NodeContext, axis: int, start: int, end: int) -> ir.Value:
    found: ir.Value = dl.slice(node.value(0), starts=[start], ends=[end], axes=[axis], steps=[1])
    return found


def _split_at_run_time(node: NodeContext, axis: int) -> list[ir.Value]:
    """Parts whose sizes are values: each starts where the one before ends."""
    x, count = node.value(0), list_length(node, 1, "the number of parts")
    if count != node.num_outputs:
        node.unsupported(f"{count} split sizes do not fit {node.num_outputs} outputs")
    sizes = _checked_sizes(node, list_value(node, 1), axis)
    start, parts = node.constant_value(np.array([0]), "i64"), []
    for index in range(count):
        end = dl.add(start, dl.slice(sizes, starts=[index], ends=[index + 1], axes=[0], steps=[1]))
        parts.append(dl.slice(x, dl.concat(start, end, axis=0), axes=[axis], steps=[1]))
        start = end
    return parts


def _checked_sizes(node: NodeContext, sizes: ir.Value, axis: int) -> ir.Value:
    """Sizes of parts that run time holds against the axis: none is negative, and they add up to it."""
    axis += node.rank(0) if axis < 0 else 0
    total = dl.shape_of(node.value(0), start=axis, end=axis + 1)
    whole = dl.equal(dl.reduce_sum(sizes, axes=[0], keepdims=True), total)
    holds = dl.and_(dl.less_equal(node.constant_value(np.array([0]), "i64"), sizes), whole)
    found: ir.Value = dl.assert_(sizes, holds, message="split sizes are negative, or do not add up to the size of the axis")
    return found


def _split_evenly_at_run_time(node: NodeContext, axis: int) -> list[ir.Value]:
    """Equal parts of a dynamic dim; the last one is smaller where they do not fit."""
    x, count = node.value(0), node.num_outputs
    axis += node.rank(0) if axis < 0 else 0
    total = dl.shape_of(x, start=axis, end=axis + 1)
    rounded = dl.add(total, node.constant_value(np.array([count - 1]), "i64"))
    size = dl.div(rounded, node.constant_value(np.array([count]), "i64"))
    edges = [dl.mul(size, node.constant_value(np.array([index]), "i64")) for index in range(count + 1)]
    pairs = [dl.concat(edges[i], edges[i + 1], axis=0) for i in range(count)]
    return [dl.slice(x, pair, axes=[axis], steps=[1]) for pair in pairs]


@importer("Slice")
def import_slice(node: NodeContext) -> ir.Value:
    """Bounds as attributes where they are known, else as operands."""
    if any(node.has_input(index) and node.constant(index) is None for index in (3, 4)):
        return _slice_at_run_time(node)
    if node.opset < 10:
        bounds: list[Sequence[int] | None] = [node.attribute("starts"), node.attribute("ends")]
    else:
        known = [node.constant(index) for index in (1, 2)]
        bounds = [None if array is None else ints(array) for array in known]
    count = next((len(given) for given in bounds if given is not None), None)
    if count is None:
        count = list_length(node, 1, "the number of sliced axes")
    axes = attribute_or_input(node, "axes", 3)
    steps = ints(node.required_constant(4, "steps")) if node.has_input(4) else [1] * count
    values = [list_value(node, 1 + index) for index, given in enumerate(bounds) if given is None]
    return dl.slice(
        node.value(0),
        functools.reduce(lambda left, right: dl.concat(left, right, axis=0), values) if values else None,
        starts=bounds[0] or [],
        ends=bounds[1] or [],
        axes=list(range(count)) if axes is None else axes,
        steps=steps,
    )


def _slice_at_run_time(node: NodeContext) -> ir.Value:
    """Axes or steps that are values: what lies in the range of each axis is gathered, where axes that are not named are whole."""
    x, kind, count = node.value(0), node.type(0), list_length(node, 1, "the number of sliced axes")
    parts = [list_value(node, index) if node.has_input(index) else None for index in (1, 2, 4)]
    starts, ends, steps = (node.constant_value(np.ones(count), "i64") if part is None else part for part in parts)
    known = np.arange(count) if not node.has_input(3) else node.constant(3)
    axes = [] if known is None else [axis % kind.rank for axis in ints(known)]
    if known is None:
        whole = [node.constant_value(np.full(kind.rank, number), "i64") for number in (0, np.iinfo(np.int64).max, 1)]
        starts, ends, steps = (on_all_axes(node, 3, part, all_) for part, all_ in zip((starts, ends, steps), whole, strict=True))
        axes = list(range(kind.rank))
    for index, axis in enumerate(axes):
        start, end, step = (_element(part, index) for part in (starts, ends, steps))
        x = dl.gather(x, _sliced_positions(node, axis, start, end, step), axis=axis)
    return x


def _element(values: ir.Value, index: int) -> ir.Value:
    """An element of a list as a scalar."""
    found: ir.Value = dl.reshape(dl.slice(values, starts=[index], ends=[index + 1], axes=[0], steps=[1]), shape=[])
    return found


def _sliced_positions(node: NodeContext, axis: int, start: ir.Value, end: ir.Value, step: ir.Value) -> ir.Value:
    """The positions that `[start:end:step]` takes along an axis of input 0, by Python's rules; all are scalars."""
    zero, one = (node.constant_value(number, "i64") for number in (0, 1))
    size = dl.reshape(dl.shape_of(node.value(0), start=axis, end=axis + 1), shape=[])
    below = dl.where(dl.less(step, zero), one, zero)  # of a range that goes down, the bounds are one lower
    low, high = dl.sub(zero, below), dl.sub(size, below)
    placed = [dl.where(dl.less(bound, zero), dl.add(bound, size), bound) for bound in (start, end)]
    first, after = (dl.min(dl.max(bound, low), high) for bound in placed)
    found: ir.Value = dl.range(first, after, step)
    return found


@importer("Pad")
def import_pad(node: NodeContext) -> ir.Value:
    """Counts as attributes where they are known, else as an operand."""
    x, rank = node.value(0), node.rank(0)
    if not node.has_attribute("pads") and any(node.has_input(index) and node.constant(index) is None for index in (1, 3)):
        return _pad_at_run_time(node)
    pads = attribute_or_input(node, "pads", 1) or []
    axes = ints(node.required_constant(3, "axes")) if node.has_input(3) else list(range(rank))
    if len(pads) != 2 * len(axes) or any(not -rank <= axis < rank for axis in axes):
        node.unsupported(f"pads {pads} need two values for each of the axes {axes} of rank {rank}")
    low, high = [0] * rank, [0] * rank
    for index, axis in enumerate(axes):
        low[axis], high[axis] = pads[index], pads[len(axes) + index]
    mode = node.attribute("mode", "constant")
    value = _pad_value(node) if mode == "constant" else None
    return dl.pad(x, value, low=low, high=high, mode=mode)


def _pad_at_run_time(node: NodeContext) -> ir.Value:
    """Counts that are values, those before all axes first; axes that are not named get none."""
    counts, rank, mode = list_value(node, 1), node.rank(0), node.attribute("mode", "constant")
    if node.has_input(3):
        count = list_length(node, 3, "the number of padded axes")
        none = node.constant_value(np.zeros(rank), "i64")
        sides = [dl.slice(counts, starts=[at], ends=[at + count], axes=[0], steps=[1]) for at in (0, count)]
        counts = dl.concat(*(on_all_axes(node, 3, side, none) for side in sides), axis=0)
    found: ir.Value = dl.dynamic_pad(node.value(0), counts, _pad_value(node) if mode == "constant" else None, mode=mode)
    return found


def _pad_value(node: NodeContext) -> ir.Value | None:
    """The scalar that is added, or None for 0."""
    dtype = node.type(0).dtype
    if node.has_attribute("value"):
        return node.constant_value(np.asarray(node.attribute("value")), dtype) if node.attribute("value") else None
    if not node.has_input(2):
        return None
    known = node.constant(2)
    if known is not None:
        return _pad_constant(node, known.reshape(())) if known.reshape(()) != 0 else None
    value = node.value(2)
    return value if node.rank(2) == 0 else dl.reshape(value, shape=[])


def _pad_constant(node: NodeContext, value: np.ndarray) -> ir.Value:
    """A scalar of x's element type, which is a weight where such are only stored."""
    dtype = node.type(0).dtype
    return node.new_param(value, node.node.input[2]) if dtype in STORAGE else node.constant_value(value, dtype)
