"""Numerics cases of regions: inside, across and outside of images, of no size, and of coordinates that are no numbers."""

from __future__ import annotations

from typing import Any

from case import Case, array

_NAN = float("nan")
_ROIS = [
    [1.0, 2.0, 9.0, 7.0],
    [0.0, 0.0, 10.0, 8.0],
    [3.25, 4.0, 3.5, 4.25],
    [-5.0, -6.0, 20.0, 13.0],
    [6.0, 5.0, 2.0, 2.0],
    [-9.0, -9.0, -4.0, -4.0],
    [_NAN, 0.0, 4.0, 4.0],
]
_IMAGES = [0, 1, 1, 0, 1, 0, 1]
_X = (2, 3, 8, 10)
_LOOSE = {"f16": 4e-3, "bf16": 3e-2}


def align(x: Any, rois: Any, images: Any, **attributes: Any) -> Case:
    return Case("roi_align", (x, array(rois), array(images, "i64")), attributes, atol=_LOOSE)


def pool(x: Any, rois: Any, **attributes: Any) -> Case:
    return Case("max_roi_pool", (x, array(rois)), attributes)


_POOLED = [[image, *region] for image, region in zip(_IMAGES, _ROIS, strict=True)]
CASES = [
    *(
        align(_X, _ROIS, _IMAGES, size=[2, 3], mode=mode, coordinates=kind, sampling_ratio=ratio)
        for mode in ("avg", "max")
        for kind in ("half_pixel", "output_half_pixel")
        for ratio in (0, 2)
    ),
    align(_X, _ROIS[:2], _IMAGES[:2], size=[1, 1], spatial_scale=0.25),
    Case(
        "roi_align",
        ((1, 2, 1, 1), array([[0.0, 0.0, 1.0, 1.0]]), array([0], "i32")),
        {"size": [2, 2]},
        ("f32",),
        name="one-element",
    ),
    Case("roi_align", (_X, (0, 4), array([], "i64")), {"size": [2, 2]}, ("f32",), name="no-regions"),
    pool(_X, _POOLED[:6], size=[2, 3]),
    pool(_X, _POOLED[:6], size=[3, 2], spatial_scale=0.5),
    Case("max_roi_pool", (_X, (0, 5)), {"size": [2, 2]}, ("f32",), name="no-regions"),
]
