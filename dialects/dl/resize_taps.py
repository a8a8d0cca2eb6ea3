"""Which elements each point of a resized axis combines, and how much each counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def coordinates_of(before: int, after: int, length: np.float32, scale: np.float32, kind: str) -> np.ndarray:
    """The coordinates of the points of an axis, by the formulas of dl.resize; `length` is `after` before it was rounded."""
    point, half = np.arange(after).astype(np.float32), np.float32(0.5)
    if kind == "align_corners":
        return point * np.float32(before - 1) / (length - np.float32(length != 1))
    if kind == "asymmetric":
        return point / scale
    if kind == "pytorch_half_pixel" and after == 1:
        return point
    centered = (point + half) / scale - half
    if kind != "half_pixel_symmetric":
        return centered
    adjusted = np.float32(1) - np.float32(after) / (scale * np.float32(before))
    return np.float32(before) / np.float32(2) * adjusted + centered


def taps_of(at: np.ndarray, size: int, mode: str, rest: Mapping[str, object]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Positions and weights of the elements that the points at coordinates `at` combine; `rest` are attributes of dl.resize."""
    floor = np.floor(at)
    part = at - floor
    if mode == "nearest":
        up = {"round_prefer_floor": part > 0.5, "round_prefer_ceil": part >= 0.5, "floor": part < 0, "ceil": part > 0}
        return [_clipped(floor + up[str(rest["rounding"])], size)], [np.ones_like(at)]
    one = np.float32(1)
    if mode == "linear":
        return [_clipped(floor, size), _clipped(floor + 1, size)], [one - part, part]
    a = np.float32(float(str(rest["cubic_coefficient"])))
    distances = [part + one, part, one - part, one - part + one]
    weights = [_outer(a, distances[0]), _inner(a, distances[1]), _inner(a, distances[2]), _outer(a, distances[3])]
    points = [floor + np.float32(offset) for offset in (-1, 0, 1, 2)]
    if rest["exclude_outside"]:
        weights = [np.where((p >= 0) & (p < size), w, np.float32(0)) for p, w in zip(points, weights, strict=True)]
        total = weights[0] + weights[1] + weights[2] + weights[3]
        weights = [weight / total for weight in weights]
    return [_clipped(point, size) for point in points], weights


def _clipped(points: np.ndarray, size: int) -> np.ndarray:
    return np.clip(points.astype(np.int64), 0, size - 1)


def _inner(a: np.float32, t: np.ndarray) -> np.ndarray:
    """The cubic convolution kernel at distance t <= 1."""
    return ((a + np.float32(2)) * t - (a + np.float32(3))) * t * t + np.float32(1)


def _outer(a: np.float32, t: np.ndarray) -> np.ndarray:
    """The cubic convolution kernel at distance 1 <= t <= 2."""
    return ((a * t - np.float32(5) * a) * t + np.float32(8) * a) * t - np.float32(4) * a
