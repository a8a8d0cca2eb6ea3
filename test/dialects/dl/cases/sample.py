"""Numerics cases of sampling: every mode, padding and kind of coordinate, points inside and outside."""

from __future__ import annotations

from typing import Any

from case import Case, array, spec

_MODES = ("nearest", "linear", "cubic")
_PADDINGS = ("zeros", "border", "reflection")
_COORDINATES = ("half_pixel", "align_corners")
_F32 = ("f32",)
_FLOATS = ("f64", "f32", "f16", "bf16")
_FAR = {"f32": 1e-4}
_POINTS = [[[-9.0, 0.4], [float("nan"), 1.0], [float("inf"), 2.0], [0.0, -float("inf")], [1e30, 0.5], [2.5, 1.5]]]


def sample(x: Any, grid: Any, dtypes: Any = _F32, **attributes: Any) -> Case:
    return Case("grid_sample", (x, grid), attributes, dtypes, rtol=_FAR, atol=_FAR)


CASES = [
    *(
        sample((2, 3, 4, 5), spec((2, 3, 2, 2), -1.6, 1.6), mode=mode, padding=padding, coordinates=kind)
        for mode in _MODES
        for padding in _PADDINGS
        for kind in _COORDINATES
    ),
    *(
        sample((1, 2, 3, 4, 3), spec((1, 2, 3, 2, 3), -1.2, 1.2), mode=mode, padding=padding)
        for mode in _MODES
        for padding in _PADDINGS
    ),
    *(sample((2, 2, 7), spec((2, 5, 1), -3.0, 9.0), mode=mode, coordinates="pixels") for mode in _MODES),
    *(sample((1, 2, 4, 5), spec((1, 2, 3, 2), -1.4, 1.4, "f64"), _FLOATS, mode=mode, padding="border") for mode in _MODES[1:]),
    sample((1, 2, 4, 5), spec((1, 2, 3, 2), -1.4, 1.4, "f16")),
    sample((1, 2, 4, 5), spec((1, 2, 3, 2), -1.4, 1.4, "f32"), None, mode="nearest"),
    sample((1, 1, 3, 4), array([_POINTS], "f32"), mode="nearest", coordinates="pixels"),
    sample((1, 2, 1, 1), spec((1, 2, 3, 2), -1.4, 1.4), padding="border", coordinates="align_corners"),
    sample((1, 2, 3, 4), spec((1, 0, 3, 2), -1.4, 1.4)),
    sample((0, 2, 3, 4), spec((0, 2, 3, 2), -1.4, 1.4)),
]
