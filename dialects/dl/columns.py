"""Columns: images put together from what windows saw of them."""

import math
from typing import Any

import numpy as np

from dlc.dialects.dl.attributes import IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import NUMERIC, TensorType, require, require_equal_dims
from dlc.dialects.dl.window import Window


class Col2Im(DLOp, name="col2im"):
    """Images whose elements are the sums of all that windows over them hold of each. ONNX Col2Im.

    result[n, c, p] = sum over t, o with p = o * strides + t * dilations - pads_begin of x[n, c * T + t, o]

    where t and o, over all spatial axes in row-major order, are single numbers to x, and T is the number of taps. f16 and
    bf16 accumulate in f32; integers wrap.

    c1: x has rank 3, and image one size or more, not negative.    c2: kernel has one value per size of image.
    c3: kernel, strides and dilations are positive, one per spatial axis; pads are two per spatial axis, not negative.
    c4: the dilated kernel fits the padded image.    c5: dim 1 of x is a multiple of the number of taps.
    c6: the last dim of x is the number of positions.
    """

    fusion_class = "opaque"
    accepts = NUMERIC
    x: Operand[Tensor]
    result: Result[Tensor]
    image = IntsAttr(doc="size per spatial axis")
    kernel = IntsAttr(doc="number of taps per spatial axis")
    strides = IntsAttr(default=(), doc="step per spatial axis; empty: 1")
    pads = IntsAttr(default=(), doc="padding before each spatial axis, then after each; empty: none")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")

    @staticmethod
    def infer(
        x: TensorType,
        *,
        image: tuple[int, ...],
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
    ) -> TensorType:
        fits = x.rank == 3 and min(image, default=-1) >= 0
        require("c1", fits, f"x is {x} and image {list(image)}")
        require("c2", len(kernel) == len(image), f"kernel {list(kernel)} needs one value per spatial axis, {len(image)}")
        window = Window.of("c3", kernel, strides, pads, dilations)
        positions = math.prod(int(str(size)) for size in window.output_dims("c4", image))
        taps, rows = math.prod(kernel), x.shape[1]
        require("c5", not isinstance(rows, int) or rows % taps == 0, f"dim 1 of x is {rows} but windows have {taps} taps")
        require_equal_dims("c6", x.shape[2], positions, "the last dim of x", "the number of positions")
        return x.with_shape((x.shape[0], rows // taps if isinstance(rows, int) else None, *image))

    @staticmethod
    @wide
    def reference(
        x: np.ndarray,
        *,
        image: tuple[int, ...],
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
    ) -> np.ndarray:
        window = Window.of("c3", kernel, strides, pads, dilations)
        positions = [int(str(size)) for size in window.output_dims("c4", image)]
        columns = x.reshape(x.shape[0], x.shape[1] // math.prod(kernel), *kernel, *positions)
        every: tuple[Any, ...] = (slice(None), slice(None))
        result = np.zeros((*columns.shape[:2], *image), x.dtype)
        for tap in np.ndindex(*kernel):
            for place in np.ndindex(*positions):
                at: tuple[Any, ...] = window.read_by(tap, place)
                if all(0 <= part < size for part, size in zip(at, image, strict=True)):
                    result[(*every, *at)] += columns[(*every, *tap, *place)]
        return result
