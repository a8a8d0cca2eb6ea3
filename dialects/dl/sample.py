"""Sample: images read between their elements, at coordinates that are values."""

import numpy as np

from dlc.dialects.dl.attributes import StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.types import FLOATS, NUMERIC, TensorType, require, require_equal_dims

CUBIC_COEFFICIENT = -0.75


class GridSample(DLOp, name="grid_sample"):
    """Images sampled at the points of a grid. ONNX GridSample.

    result[n, c, o..] = x[n, c, ...] at the point grid[n, o.., :], whose first entry stands for the last axis of x

    An entry g gives the coordinate, on an axis of d elements: half_pixel ((g + 1) * d - 1) / 2; align_corners
    (g + 1) / 2 * (d - 1); pixels g. nearest takes the element that rounding (halves to even) gives, linear weighs the two
    around it per axis, cubic the four around it by the cubic convolution kernel with coefficient -0.75. What lies outside
    is 0 (zeros), the nearest element (border), or x mirrored at its ends: at -0.5 and d - 0.5, with align_corners at 0 and
    d - 1 (reflection). With border and reflection the coordinate is moved before the elements around it are. Coordinates
    and weights are computed in f32, in f64 where the grid is f64. A coordinate that is NaN gives some element of x.

    c1: x has rank 3 or more, and grid the same.    c2: the last dim of grid is the number of spatial axes of x.
    c3: the batch dims of x and grid are equal.    c4: linear and cubic take floats.
    c5: no spatial axis of x is empty unless the result is.
    """

    fusion_class = "opaque"
    accepts = {"x": NUMERIC, "grid": FLOATS}
    x: Operand[Tensor]
    grid: Operand[Tensor]
    result: Result[Tensor]
    mode = StrAttr(default="linear", choices=("nearest", "linear", "cubic"), doc="how elements are combined")
    padding = StrAttr(default="zeros", choices=("zeros", "border", "reflection"), doc="what lies outside of x")
    coordinates = StrAttr(
        default="half_pixel", choices=("half_pixel", "align_corners", "pixels"), doc="which coordinate of x a grid's entry gives"
    )

    @staticmethod
    def infer(x: TensorType, grid: TensorType, *, mode: str, padding: str, coordinates: str) -> TensorType:
        require("c1", 3 <= x.rank == grid.rank, f"x has rank {x.rank} and grid rank {grid.rank}")
        require_equal_dims("c2", grid.shape[-1], x.rank - 2, "the last dim of grid", "the number of spatial axes of x")
        batch = require_equal_dims("c3", x.shape[0], grid.shape[0], "dim 0 of x", "dim 0 of grid")
        require("c4", mode == "nearest" or x.dtype in FLOATS, f"mode is {mode} but x is {x}")
        shape = (batch, x.shape[1], *grid.shape[1:-1])
        require("c5", 0 not in x.shape[2:] or 0 in shape, f"x is {x} but the result has elements")
        return x.with_shape(shape)

    @staticmethod
    def reference(x: np.ndarray, grid: np.ndarray, *, mode: str, padding: str, coordinates: str) -> np.ndarray:
        if 0 in (*x.shape[:2], *grid.shape):
            return np.zeros((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
        batch = np.arange(x.shape[0]).reshape(-1, *[1] * (grid.ndim - 2))
        with np.errstate(all="ignore"):
            tables = []
            for axis, size in enumerate(x.shape[2:]):
                at = _coordinates(widen(grid[..., grid.shape[-1] - 1 - axis]), size, coordinates)
                tables.append(_taps(at, size, mode, padding, coordinates == "align_corners"))
            found = _combined(np.moveaxis(widen(x), 1, -1), (batch,), tables).astype(x.dtype)
        return np.ascontiguousarray(np.moveaxis(found, -1, 1))


Tables = list[tuple[list[np.ndarray], list[np.ndarray]]]


def _coordinates(entry: np.ndarray, size: int, kind: str) -> np.ndarray:
    number = entry.dtype.type
    if kind == "pixels":
        return entry
    if kind == "align_corners":
        return (entry + number(1)) / number(2) * number(size - 1)
    return ((entry + number(1)) * number(size) - number(1)) / number(2)


def _taps(at: np.ndarray, size: int, mode: str, padding: str, mirrors_centers: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Positions of the elements that each point combines, -1 for a 0 outside of x, and their weights; none for nearest."""
    ends = (0.0, size - 1.0) if mirrors_centers else (-0.5, size - 0.5)
    at = _moved(np.rint(at) if mode == "nearest" else at, size, padding, ends)
    floor = np.floor(at)
    part = at - floor
    first, weights = {"nearest": (0, []), "linear": (0, _linear(part)), "cubic": (-1, _cubic(part))}[mode]
    points = [floor + at.dtype.type(first + tap) for tap in range(max(len(weights), 1))]
    positions = [np.nan_to_num(_moved(point, size, padding, ends), nan=0.0, posinf=size, neginf=-1.0) for point in points]
    whole = [np.clip(position, -1, size).astype(np.int64) for position in positions]
    if padding == "zeros":
        return [np.where((place < 0) | (place >= size), -1, place) for place in whole], weights
    return [np.clip(place, 0, size - 1) for place in whole], weights


def _moved(at: np.ndarray, size: int, padding: str, ends: tuple[float, float]) -> np.ndarray:
    """Coordinates as they are (zeros), moved to the nearest element (border) or mirrored at the ends (reflection)."""
    number = at.dtype.type
    low, high = number(ends[0]), number(ends[1])
    if padding == "zeros":
        return at
    if padding == "border":
        return np.where((at < low) | (at > high), np.clip(at, number(0), number(size - 1)), at)
    distance, span = np.abs(at - low), high - low
    turns = np.floor(distance / span)
    rest = distance - turns * span
    is_even = turns == np.floor(turns / number(2)) * number(2)
    return np.where(is_even, low + rest, high - rest)


def _linear(part: np.ndarray) -> list[np.ndarray]:
    return [part.dtype.type(1) - part, part]


def _cubic(part: np.ndarray) -> list[np.ndarray]:
    """The cubic convolution kernel at the distances of four taps."""
    a, one = CUBIC_COEFFICIENT, part.dtype.type(1)
    rest = one - part
    return [
        np.polyval([a, -5 * a, 8 * a, -4 * a], part + one),
        np.polyval([a + 2, -(a + 3), 0, 1], part),
        np.polyval([a + 2, -(a + 3), 0, 1], rest),
        np.polyval([a, -5 * a, 8 * a, -4 * a], rest + one),
    ]


def _combined(x: np.ndarray, at: tuple[np.ndarray, ...], tables: Tables) -> np.ndarray:
    """x[batch, spatial.., channel] combined along the axes of `tables`, the ones before being read at `at`."""
    if not tables:
        outside = np.any([np.broadcast_to(place < 0, at[-1].shape) for place in at[1:]], axis=0)
        return np.where(outside[..., None], x.dtype.type(0), x[at])
    positions, weights = tables[0]
    parts = [_combined(x, (*at, place), tables[1:]) for place in positions]
    if not weights:
        return parts[0]
    terms = [part * weight[..., None].astype(x.dtype) for part, weight in zip(parts, weights, strict=True)]
    return sum(terms[1:], terms[0])
