"""Poolings over images of [batch, channels, 1 to 3 spatial axes], or with the channels last. Global ones are reductions."""

import math
from typing import Any

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide, widen
from dlc.dialects.dl.types import FLOATS, NUMERIC, TensorType, require
from dlc.dialects.dl.window import Layout, Window


class Pool(DLOp):
    """Base of poolings: a window of `kernel` taps, `dilations` apart, that moves by `strides` over the padded input.

    With `ceil_mode`, a last window that is not whole counts, too, unless it starts in the padding after the input.
    """

    fusion_class = "reduction"
    x: Operand[Tensor]
    result: Result[Tensor]
    kernel = IntsAttr(doc="number of taps per spatial axis")
    strides = IntsAttr(default=(), doc="step per spatial axis; empty: 1")
    pads = IntsAttr(default=(), doc="padding before each spatial axis, then after each; empty: none")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")
    ceil_mode = BoolAttr(default=False, doc="whether the number of positions rounds up")
    channels_last = BoolAttr(default=False, doc="whether channels are the last axis of x and result")

    @staticmethod
    def infer(x: TensorType, **attributes: Any) -> TensorType:
        return _pooled(x, **attributes)


class MaxPool(Pool, name="max_pool"):
    """Largest value in each window; what lies outside the input does not count. ONNX MaxPool.

    result[n, c, o] = max over t of x[n, c, o * strides + t * dilations - pads_begin]

    With channels_last c is the last axis of both. NaN stays NaN. A window without an element of the input gives the lowest
    value (-inf, the smallest integer).

    c1: x has rank 3 to 5.    c2: kernel has one value per spatial axis.
    c3: kernel, strides and dilations are positive, one per spatial axis; pads are two per spatial axis, not negative.
    c4: the dilated kernel fits the padded input.    c5: no pads hold a whole dilated kernel.
    """

    accepts = NUMERIC

    @staticmethod
    @wide
    def reference(
        x: np.ndarray,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool,
        channels_last: bool,
    ) -> np.ndarray:
        layout = Layout(x.ndim - 2, channels_last)
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        view = Window.of("c3", kernel, strides, pads, dilations, ceil_mode).view(layout.first(x), lowest)
        return layout.restored(view.max(axis=tuple(range(x.ndim, view.ndim))))


class ArgMaxPool(Pool, name="arg_max_pool"):
    """Place of the largest value in each window, the first of equals. ONNX MaxPool, its second output.

    result[n, c, o] = place of the largest x[n, c, p] with p = o * strides + t * dilations - pads_begin inside x

    A place counts elements of x with its channels first, in row-major order; with column_major the spatial axes count in
    the reverse order, the first one fastest. NaN is larger than every number. A window without an element of the input
    gives -1. With channels_last c is the last axis of both.

    c1: x has rank 3 to 5.    c2: kernel has one value per spatial axis.
    c3: kernel, strides and dilations are positive, one per spatial axis; pads are two per spatial axis, not negative.
    c4: the dilated kernel fits the padded input.    c5: no pads hold a whole dilated kernel.
    """

    accepts = NUMERIC
    column_major = BoolAttr(default=False, doc="whether places count the first spatial axis fastest")

    @staticmethod
    def infer(x: TensorType, **attributes: Any) -> TensorType:
        return _pooled(x, **attributes).with_dtype("i64")

    @staticmethod
    def reference(
        x: np.ndarray,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool,
        channels_last: bool,
        column_major: bool,
    ) -> np.ndarray:
        layout = Layout(x.ndim - 2, channels_last)
        x = widen(layout.first(x))
        window = Window.of("c3", kernel, strides, pads, dilations, ceil_mode)
        order = [0, 1, *range(x.ndim - 1, 1, -1)] if column_major else list(range(x.ndim))
        counted = np.arange(x.size).reshape([x.shape[axis] for axis in order]).transpose(np.argsort(order))
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        places, values = window.view(counted, -1), window.view(x, lowest)
        flat = (*values.shape[: x.ndim], -1) if values.size else (*values.shape[: x.ndim], math.prod(kernel))
        places, values = places.reshape(flat), values.reshape(flat)
        best = values.max(axis=-1, keepdims=True)
        matches = (places >= 0) & ((values == best) | (np.isnan(best) & np.isnan(values)))
        first = np.take_along_axis(places, matches.argmax(axis=-1)[..., None], -1)[..., 0]
        return layout.restored(np.where(matches.any(axis=-1), first, -1))


class AvgPool(Pool, name="avg_pool"):
    """Mean of each window. ONNX AveragePool.

    result[n, c, o] = (sum over t of x[n, c, o * strides + t * dilations - pads_begin]) / count[o]

    where x is 0 outside and count is the number of taps that lie inside the input, or with `count_include_pad` inside
    the input with its pads; a window that has none gives 0. With channels_last c is the last axis of both.

    c1: x has rank 3 to 5.    c2: kernel has one value per spatial axis.
    c3: kernel, strides and dilations are positive, one per spatial axis; pads are two per spatial axis, not negative.
    c4: the dilated kernel fits the padded input.    c5: no pads hold a whole dilated kernel.
    """

    accepts = FLOATS
    count_include_pad = BoolAttr(default=False, doc="whether taps in the pads count")

    @staticmethod
    @wide
    def reference(
        x: np.ndarray,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool,
        count_include_pad: bool,
        channels_last: bool,
    ) -> np.ndarray:
        layout = Layout(x.ndim - 2, channels_last)
        x = layout.first(x)
        window = Window.of("c3", kernel, strides, pads, dilations, ceil_mode)
        view = window.view(x, 0)
        total = view.sum(axis=tuple(range(x.ndim, view.ndim)))
        for axis in range(window.rank):
            count = np.maximum(window.counts(axis, x.shape[axis + 2], count_include_pad), 1)
            total = total / count.astype(x.dtype).reshape(-1, *[1] * (window.rank - axis - 1))
        return layout.restored(total)


def _pooled(
    x: TensorType,
    *,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    ceil_mode: bool,
    channels_last: bool,
    **attributes: object,
) -> TensorType:
    """The type of a pooling's result."""
    require("c1", 3 <= x.rank <= 5, f"x has rank {x.rank} but must have 3 to 5")
    require("c2", len(kernel) == x.rank - 2, f"kernel {list(kernel)} needs one value per spatial axis, {x.rank - 2}")
    window = Window.of("c3", kernel, strides, pads, dilations, ceil_mode)
    layout = Layout(x.rank - 2, channels_last)
    for axis, (begin, end) in enumerate(zip(window.pads_begin, window.pads_end, strict=True)):
        text = f"pads {begin} and {end} on axis {axis + layout.spatial.start} hold a whole window of {window.reach(axis)}"
        require("c5", not window.lies_in_pads(axis), text)
    positions = window.output_dims("c4", layout.spatial_of(x.shape), layout.spatial.start)
    return TensorType(tuple(layout.image(x.dim(0), [x.dim(layout.channel)], positions)), x.dtype)
