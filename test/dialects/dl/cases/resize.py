"""Numerics cases of resize: every mode, coordinate and rounding, growing and shrinking."""

from __future__ import annotations

from typing import Any

from case import Case, array

_F32 = ("f32",)
_COORDINATES = ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def resize(x: Any, axes: Any, dtypes: Any = _F32, **attributes: Any) -> Case:
    return Case("resize", (x,), {"axes": axes, **attributes}, dtypes)


def dynamic(x: Any, axes: Any, sizes: Any, scales: Any = None, dtypes: Any = _F32, **attributes: Any) -> Case:
    given = None if scales is None else array(scales, "f32")
    return Case("dynamic_resize", (x, array(sizes, "i64"), given), {"axes": axes, **attributes}, dtypes)


CASES = [
    dynamic((2, 3, 4, 5), (2, 3), (8, 10), dtypes=None, coordinates="asymmetric", rounding="floor"),
    *(dynamic((2, 7), (1,), (10,), coordinates=kind, mode="linear") for kind in _COORDINATES),
    *(dynamic((9, 2), (0,), (5,), (0.6,), coordinates=kind, mode="cubic") for kind in _COORDINATES),
    dynamic((2, 3, 4), (0, 1, 2), (2, 3, 9), (1.0, 1.0, 2.4), mode="linear"),
    dynamic((3, 4), (1,), (6,), (2.0**48,), mode="linear"),
    dynamic((3, 4), (0,), (0,)),
    dynamic((3, 4), (0,), (1,), coordinates="align_corners", mode="linear"),
    dynamic((0, 4), (0, 1), (0, 7)),
    resize((2, 3, 4, 5), (2, 3), None, scales=(2.0, 2.0), coordinates="asymmetric", rounding="floor"),
    resize((1, 2, 3, 4), (2, 3), scales=(3.0, 1.0)),
    resize((1, 2, 3, 4), (-1,), sizes=(8,)),
    resize((2, 3, 5), (1, 2), None, scales=(1.5, 0.7)),
    resize((3,), (0,), None, sizes=(7,), scales=(2.0,), coordinates="asymmetric", rounding="floor"),
    *(resize((2, 7), (1,), sizes=(10,), coordinates=kind, rounding=r) for kind in _COORDINATES for r in _ROUNDINGS),
    *(resize((9, 2), (0,), scales=(0.6,), coordinates=kind, mode="linear") for kind in _COORDINATES),
    *(resize((9, 2), (0,), sizes=(14,), coordinates=kind, mode="cubic") for kind in _COORDINATES),
    resize((2, 4, 5), (1, 2), ("f64", "f32", "f16", "bf16"), sizes=(7, 3), mode="linear"),
    resize((2, 4, 5), (1, 2), ("f64", "f32", "f16", "bf16"), sizes=(7, 11), mode="cubic"),
    resize((3, 6), (1,), scales=(1.3,), mode="cubic", exclude_outside=True, cubic_coefficient=-0.5),
    resize((2, 3, 4, 2), (1, 2, 3), scales=(2.0, 1.5, 0.5), mode="linear"),
    resize((3, 4), (0,), sizes=(1,), coordinates="align_corners", mode="linear"),
    resize((3, 4), (0,), sizes=(1,), coordinates="pytorch_half_pixel", mode="linear"),
    resize((3, 4), (0,), sizes=(7,), scales=(2.5,), mode="linear"),
    resize((3, 4), (0, 1), scales=(2.5, 0.6), coordinates="align_corners", mode="linear"),
    resize((3, 5), (0, 1), scales=(1 / 3, 0.2), coordinates="align_corners", mode="linear"),
    resize((1, 4), (0,), sizes=(5,), mode="linear"),
    resize((3, 4), (0,), sizes=(0,)),
    resize((0, 4), (1,), scales=(1.5,)),
    resize((3, 4), ()),
]
