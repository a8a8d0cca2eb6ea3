"""Regions of images in a common size."""

from collections.abc import Sequence

import numpy as np

from dlc.dialects.dl.attributes import FloatAttr, IntAttr, IntsAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.types import FLOATS, INDICES, TensorType, require, require_equal_dims, require_same_dtype

MOST_SAMPLES = 4096
"""Samples of a bin along one axis; a region that takes more is an error of the call, since it would take hours."""


class RoiAlign(DLOp, name="roi_align"):
    """Regions of images in a common size, from samples between their elements. ONNX RoiAlign (He et al., "Mask R-CNN", 2017).

    result[r, c, i, j] = mean (or max) over samples (y, x) of bin (i, j) of region r of x[images[r], c] at (y, x)

    A region is [left, top, right, bottom], times spatial_scale, less 0.5 for half_pixel; otherwise its sides are at least 1. It is
    cut into `size` bins, and each bin has a grid of samples at the middles of equal parts: sampling_ratio along each axis, or for
    0 as many as the bin is long, rounded up. A sample is the linear combination of the four elements around it, whose coordinates
    are moved to the nearest; it is 0 where one is less than -1 or greater than the size of x. For max, the greatest of the four
    weighted elements stands for the sample. A bin without samples gives 0. Coordinates are computed in f32, in f64 for f64.

    c1: x is [images, channels, rows, columns], rois [regions, 4] and images [regions].
    c2: rois and images have the same number of regions.    c3: x and rois have one element type.
    c4: size is two positive numbers.    c5: sampling_ratio is from 0 to 4096.    c6: x has elements unless the result has none.
    """

    fusion_class = "opaque"
    accepts = {"x": FLOATS, "rois": FLOATS, "images": INDICES}
    x: Operand[Tensor]
    rois: Operand[Tensor]
    images: Operand[Tensor]
    result: Result[Tensor]
    size = IntsAttr(doc="rows and columns of each region in the result")
    sampling_ratio = IntAttr(default=0, doc="samples of a bin along each axis; 0 for as many as it has elements")
    spatial_scale = FloatAttr(default=1.0, doc="what coordinates of regions are multiplied with to be those of x")
    mode = StrAttr(default="avg", choices=("avg", "max"), doc="how samples are combined")
    coordinates = StrAttr(
        default="half_pixel",
        choices=("half_pixel", "output_half_pixel"),
        doc="whether coordinates are those of corners or of middles",
    )

    @staticmethod
    def infer(
        x: TensorType,
        rois: TensorType,
        images: TensorType,
        *,
        size: Sequence[int],
        sampling_ratio: int,
        spatial_scale: float,
        mode: str,
        coordinates: str,
    ) -> TensorType:
        require("c5", 0 <= sampling_ratio <= MOST_SAMPLES, f"sampling_ratio is {sampling_ratio}; give 0 to {MOST_SAMPLES}")
        require("c1", (x.rank, rois.rank, images.rank) == (4, 2, 1), f"x is {x}, rois {rois} and images {images}")
        require_equal_dims("c1", rois.shape[1], 4, "dim 1 of rois", "that of a region")
        count = require_equal_dims("c2", rois.shape[0], images.shape[0], "the number of regions of rois", "that of images")
        require_same_dtype("c3", x=x, rois=rois)
        return _result(x, count, size, "c4", "c6")

    @staticmethod
    def reference(
        x: np.ndarray,
        rois: np.ndarray,
        images: np.ndarray,
        *,
        size: Sequence[int],
        sampling_ratio: int,
        spatial_scale: float,
        mode: str,
        coordinates: str,
    ) -> np.ndarray:
        result = np.zeros((len(rois), x.shape[1], *size), x.dtype)
        if result.size == 0:
            return result
        _require_images(images, len(x))
        wide, is_half = widen(x), coordinates == "half_pixel"
        number = wide.dtype.type
        with np.errstate(all="ignore"):
            for region, roi in enumerate(widen(rois) * number(spatial_scale)):
                axes = [_samples(roi[at], roi[at + 2], size[1 - at], sampling_ratio, is_half) for at in (1, 0)]
                for i, j in np.ndindex(*size):
                    down, right = (_taps(axis[part], limit) for axis, part, limit in zip(axes, (i, j), x.shape[2:], strict=True))
                    result[region, :, i, j] = _combined(wide[images[region]], down, right, mode)
        return result


class MaxRoiPool(DLOp, name="max_roi_pool"):
    """The largest elements of bins of regions of images. ONNX MaxRoiPool (Girshick, "Fast R-CNN", 2015).

    result[r, c, i, j] = max of x[image, c, y, x] over y and x of bin (i, j) of region r = [image, left, top, right, bottom]

    Coordinates are multiplied with spatial_scale and rounded, halves away from 0; the right and bottom ones are inside. A region
    that has less than one element on an axis has one. Bin i of `size` covers the elements from floor(i * length / size) on,
    and less than ceil((i + 1) * length / size); of these, the ones inside of x. A bin without any gives 0.

    c1: x is [images, channels, rows, columns] and rois [regions, 5].    c2: x and rois have one element type.
    c3: size is two positive numbers.    c4: x has elements unless the result has none.
    """

    fusion_class = "opaque"
    accepts = FLOATS
    x: Operand[Tensor]
    rois: Operand[Tensor]
    result: Result[Tensor]
    size = IntsAttr(doc="rows and columns of each region in the result")
    spatial_scale = FloatAttr(default=1.0, doc="what coordinates of regions are multiplied with to be those of x")

    @staticmethod
    def infer(x: TensorType, rois: TensorType, *, size: Sequence[int], spatial_scale: float) -> TensorType:
        require("c1", (x.rank, rois.rank) == (4, 2), f"x is {x} and rois {rois}")
        require_equal_dims("c1", rois.shape[1], 5, "dim 1 of rois", "that of a region with its image")
        require_same_dtype("c2", x=x, rois=rois)
        return _result(x, rois.shape[0], size, "c3", "c4")

    @staticmethod
    def reference(x: np.ndarray, rois: np.ndarray, *, size: Sequence[int], spatial_scale: float) -> np.ndarray:
        result = np.zeros((len(rois), x.shape[1], *size), x.dtype)
        if result.size == 0:
            return result
        wide = widen(rois)
        images = wide[:, 0].astype(np.int64)
        _require_images(images, len(x))
        scaled = wide[:, 1:] * wide.dtype.type(spatial_scale)
        corners = _whole(np.copysign(np.floor(np.abs(scaled) + wide.dtype.type(0.5)), scaled))
        for region, corner in enumerate(corners):
            spans = [_bins(corner[at], corner[at + 2], size[1 - at], x.shape[3 - at]) for at in (1, 0)]
            for i, j in np.ndindex(*size):
                part = x[images[region], :, slice(*spans[0][i]), slice(*spans[1][j])]
                if part.size:
                    result[region, :, i, j] = part.max((1, 2))
        return result


def _result(x: TensorType, count: int | str | None, size: Sequence[int], size_label: str, empty_label: str) -> TensorType:
    require(size_label, len(size) == 2 and min(size) > 0, f"size is {list(size)}")
    result = x.with_shape([count, x.shape[1], *size])
    has_elements = 0 not in (x.shape[0], *x.shape[2:])
    require(empty_label, has_elements or 0 in result.shape, f"x is {x} but the result has elements")
    return result


def _require_images(images: np.ndarray, count: int) -> None:
    if ((images < 0) | (images >= count)).any():
        raise ValueError(f"a region is of an image that is none of {count}")


def _samples(start: np.floating, end: np.floating, bins: int, ratio: int, is_half: bool) -> list[np.ndarray]:
    """Coordinates of the samples of each bin along one axis."""
    number = type(start)
    start = start - number(0.5) if is_half else start
    length = end - (end.dtype.type(0.5) if is_half else number(0)) - start
    length = length if is_half else np.maximum(length, number(1))
    part = length / number(bins)
    count = ratio or int(np.nan_to_num(np.ceil(part), nan=0.0, posinf=2.0**40, neginf=0.0))
    if count > MOST_SAMPLES:
        raise ValueError(f"a region takes {count} samples for a bin")
    steps = (np.arange(max(count, 0)).astype(number) + number(0.5)) * part / number(max(count, 1))
    return [start + number(index) * part + steps for index in range(bins)]


def _taps(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The two elements around each coordinate and their weights, which are 0 outside."""
    number = at.dtype.type
    inside = (at >= -1) & (at <= size)
    moved = np.where(inside, np.clip(at, number(0), number(size - 1)), number(0))
    low = np.minimum(moved.astype(np.int64), size - 1)
    part = moved - low.astype(at.dtype)
    return low, np.minimum(low + 1, size - 1), np.where(inside, number(1) - part, number(0)), np.where(inside, part, number(0))


def _combined(x: np.ndarray, rows: Sequence[np.ndarray], columns: Sequence[np.ndarray], mode: str) -> np.ndarray:
    """One bin of all channels from the samples that rows and columns of it say."""
    weighted = []
    for row, down in ((rows[0], rows[2]), (rows[1], rows[3])):
        for column, right in ((columns[0], columns[2]), (columns[1], columns[3])):
            weighted.append(x[:, row[:, None], column] * (down[:, None] * right))
    if weighted[0][0].size == 0:
        return np.zeros(len(x), x.dtype)
    if mode == "max":
        largest: np.ndarray = np.max(weighted, axis=(0, 2, 3))
        return largest
    mean: np.ndarray = sum(weighted[1:], weighted[0]).mean((1, 2))
    return mean


def _whole(values: np.ndarray) -> np.ndarray:
    return np.clip(np.nan_to_num(values, nan=0.0), -(2.0**30), 2.0**30).astype(np.int64)


def _bins(start: int, end: int, count: int, limit: int) -> list[tuple[int, int]]:
    """The elements of x, from and before which, that each bin has along one axis."""
    length = max(int(end - start + 1), 1)
    edges = [(index * length // count, -(-(index + 1) * length // count)) for index in range(count)]
    return [(_moved(first + start, limit), _moved(last + start, limit)) for first, last in edges]


def _moved(at: int, limit: int) -> int:
    return int(min(max(at, 0), limit))
