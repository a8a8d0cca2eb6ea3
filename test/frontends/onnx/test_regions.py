"""RoiAlign and MaxRoiPool against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(12)
_X = _GENERATOR.standard_normal((2, 3, 12, 16)).astype(np.float32)
_ROIS = np.array([[1, 2, 9, 8], [0, 0, 15, 11], [3.3, 4.1, 3.4, 4.2], [-5, -6, 20, 30], [5, 9, 14, 11.5]], np.float32)
_IMAGES = np.array([0, 1, 1, 0, 1], np.int64)
_FEEDS = {"x": _X, "rois": _ROIS, "images": _IMAGES}


def _align(**attributes: Any) -> Any:
    return node("RoiAlign", list(_FEEDS), **attributes)


def test_package() -> None:
    assert check_backend_cases("RoiAlign") == 3


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
def test_roi_align(mode: str, coordinates: str) -> None:
    given = {"mode": mode, "coordinate_transformation_mode": coordinates, "output_height": 3, "output_width": 4}
    check([_align(**given), _align(sampling_ratio=2, **given), _align(spatial_scale=0.5, **given)], _FEEDS)


def test_roi_align_of_opset_10() -> None:
    check([_align(output_height=2, output_width=2)], _FEEDS, opset=10)


def test_max_roi_pool() -> None:
    rois = np.concatenate([_IMAGES[:, None], np.clip(_ROIS, 0, 11)], 1).astype(np.float32)
    given = {"x": _X, "rois": rois}
    check([node("MaxRoiPool", list(given), pooled_shape=[3, 4], spatial_scale=scale) for scale in (1.0, 0.6)], given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images": np.array([0, 1, 2, 0, 1])}, "a region is of an image that does not exist"),
        ({"rois": _ROIS * np.float32(1e6)}, "the number of samples of a bin is \\d+ but the most that is taken is 4096"),
    ],
)
def test_regions_that_cannot_be(change: dict[str, np.ndarray], message: str) -> None:
    compiled = dlc.compile(build_model([_align()], _FEEDS))
    with pytest.raises(dlc.InvalidInputError, match=message):
        compiled(_FEEDS | change)
