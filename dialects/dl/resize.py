"""Resize: a tensor sampled at other distances."""

from typing import Any, Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, FloatAttr, FloatsAttr, IntsAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.resize_taps import coordinates_of, taps_of
from dlc.dialects.dl.shape import normalize_axes, require_length
from dlc.dialects.dl.types import FLOATS, MOST_BYTES, Dim, TensorType, require, type_of_array


class Sampling(DLOp):
    """Base of the ops that sample a tensor at other distances: how they do it."""

    mode = StrAttr(default="nearest", choices=("nearest", "linear", "cubic"), doc="how elements are combined")
    coordinates = StrAttr(
        default="half_pixel",
        choices=("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners"),
        doc="which coordinate of x a point has",
    )
    rounding = StrAttr(
        default="round_prefer_floor",
        choices=("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
        doc="how nearest rounds a coordinate; the first two differ at halves",
    )
    cubic_coefficient = FloatAttr(default=-0.75, doc="parameter of the cubic convolution kernel")
    exclude_outside = BoolAttr(default=False, doc="cubic gives elements outside x weight 0, and the others sum 1")


class Resize(Sampling, name="resize"):
    """x sampled along some axes at out points instead of in. ONNX Resize, Upsample.

    out = sizes[a], or floor(in * scales[a]); scale = scales[a], or out / in. Point p samples x at coordinate c:
    half_pixel (p + 0.5) / scale - 0.5; pytorch_half_pixel the same, but 0 where out is 1; half_pixel_symmetric the same
    as half_pixel plus in / 2 * (1 - out / (in * scale)); asymmetric p / scale; align_corners p * (in - 1) / (length - 1),
    with length in * scale where scales are given, else out.
    nearest takes the element that rounding of c gives, linear weighs the two around c, cubic the four around c by the
    cubic convolution kernel. Positions outside x are moved to the nearest element; with exclude_outside cubic ignores
    them. Coordinates and weights are computed in f32. Axes are resized one after another.

    c1: axes are distinct axes of x.    c2: sizes, scales or both have one entry per axis, sizes not negative, scales
    positive and finite.    c3: linear and cubic take floats.    c4: no axis is empty that is not in the result.
    c5: no scale is more than the bytes that a machine can address.
    """

    fusion_class = "reduction"
    x: Operand[Tensor]
    result: Result[Tensor]
    axes = IntsAttr(doc="axes that are resized; negative ones count from the end")
    sizes = IntsAttr(default=(), doc="dims of the result along axes; empty where they follow from scales")
    scales = FloatsAttr(default=(), doc="result's dims by x's along axes; empty where they follow from sizes")

    @staticmethod
    def infer(
        x: TensorType,
        *,
        axes: tuple[int, ...],
        sizes: tuple[int, ...],
        scales: tuple[float, ...],
        mode: str,
        **rest: object,
    ) -> TensorType:
        found = normalize_axes("c1", axes, x.rank)
        fits = {len(axes)} <= {len(sizes), len(scales)} <= {0, len(axes)}
        fits = fits and all(size >= 0 for size in sizes) and all(0 < scale < np.inf for scale in scales)
        require("c2", fits, f"sizes {list(sizes)} and scales {list(scales)} for {len(axes)} axes")
        require("c3", mode == "nearest" or x.dtype in FLOATS, f"mode is {mode} but x is {x}")
        largest = max(scales, default=1.0)
        require("c5", largest <= MOST_BYTES, f"an axis grows by {largest:g}, more than any machine can address")
        dims = list(x.shape)
        for index, axis in enumerate(found):
            before = dims[axis]
            dims[axis] = sizes[index] if sizes else scaled_dim(before, scales[index])
            require("c4", before != 0 or dims[axis] == 0, f"axis {axis} of {x} is empty")
        return x.with_shape(dims)

    @staticmethod
    @wide
    def reference(
        x: np.ndarray,
        *,
        axes: tuple[int, ...],
        sizes: tuple[int, ...],
        scales: tuple[float, ...],
        mode: str,
        **rest: object,
    ) -> np.ndarray:
        for index, axis in enumerate(axes):
            before = x.shape[axis]
            after = sizes[index] if sizes else int(np.floor(np.float32(before) * np.float32(scales[index])))
            if before == 0:
                continue
            scale = np.float32(scales[index]) if scales else np.float32(after) / np.float32(before)
            length = np.float32(before) * scale if scales else np.float32(after)
            at = coordinates_of(before, after, length, scale, str(rest["coordinates"]))
            positions, weights = taps_of(at, before, mode, rest)
            terms = [
                np.moveaxis(np.moveaxis(np.take(x, where, axis), axis, -1) * weight.astype(x.dtype), -1, axis)
                for where, weight in zip(positions, weights, strict=True)
            ]
            x = sum(terms[1:], terms[0]) if mode != "nearest" else np.take(x, positions[0], axis)
        return x


class DynamicResize(Sampling, name="dynamic_resize"):
    """`dl.resize` to sizes that only run time knows. ONNX Resize.

    out = sizes[a], which is not negative, and 0 where in is 0 alone
    scale = scales[a], which is positive and however large, or out / in where scales is absent
    points sample x as those of `dl.resize` do

    c1: axes are distinct axes of x.    c2: sizes and scales, each, have one element per axis.
    c3: linear and cubic take floats.
    """

    fusion_class = "opaque"
    accepts = {"sizes": ("i64",), "scales": ("f32",)}
    x: Operand[Tensor]
    sizes: Operand[Tensor]
    scales: Optional[Operand[Tensor]]
    result: Result[Tensor]
    axes = IntsAttr(doc="axes that are resized; negative ones count from the end")

    @staticmethod
    def infer(
        x: TensorType,
        sizes: TensorType,
        scales: Optional[TensorType],
        *,
        axes: tuple[int, ...],
        mode: str,
        **rest: object,
    ) -> TensorType:
        found = normalize_axes("c1", axes, x.rank)
        require_length("c2", sizes, len(axes), "sizes", "axis")
        require_length("c2", scales, len(axes), "scales", "axis")
        require("c3", mode == "nearest" or x.dtype in FLOATS, f"mode is {mode} but x is {x}")
        return x.with_shape([None if axis in found else dim for axis, dim in enumerate(x.shape)])

    @staticmethod
    def reference(
        x: np.ndarray,
        sizes: np.ndarray,
        scales: Optional[np.ndarray],
        *,
        axes: tuple[int, ...],
        **rest: Any,
    ) -> np.ndarray:
        counts, given = tuple(sizes.tolist()), () if scales is None else tuple(scales.tolist())
        Resize.infer(type_of_array(x), axes=axes, sizes=counts, scales=(), mode=rest["mode"])
        require("c2", all(scale > 0 for scale in given), f"scales {list(given)} are not all positive")
        found: np.ndarray = Resize.reference(x, axes=axes, sizes=counts, scales=given, **rest)
        return found


def scaled_dim(dim: Dim, scale: float) -> Dim:
    """floor(dim * scale), computed in f32."""
    if scale == 1:
        return dim
    return int(np.floor(np.float32(dim) * np.float32(scale))) if isinstance(dim, int) else None
