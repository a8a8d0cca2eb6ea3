"""ONNX Resize and Upsample against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx.reference import ReferenceEvaluator
from onnx_check import build_model, check, compare, node

import dlc

_X = np.random.default_rng(9).uniform(-5, 5, (1, 2, 5, 6)).astype(np.float32)
_COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_CONSTANTS = {
    "up": np.array([1, 1, 2, 2], np.float32),
    "odd": np.array([1, 1, 1.6, 0.7], np.float32),
    "sizes": np.array([1, 2, 8, 4], np.int64),
}


def _whole(coordinates: str) -> tuple[str, ...]:
    """Scales to compare: onnxruntime rounds the length of aligned corners, where the onnx package does not."""
    return ("up",) if coordinates == "align_corners" else ("up", "odd")


def _resize(scales: str = "", sizes: str = "", **attributes: Any) -> Any:
    return node("Resize", ["x", "", scales, sizes] if sizes else ["x", "", scales], **attributes)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("coordinates", _COORDINATES)
def test_nearest(coordinates: str) -> None:
    roundings = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    modes = {"coordinate_transformation_mode": coordinates}
    nodes = [_resize(scales, nearest_mode=rounding, **modes) for rounding in roundings for scales in _whole(coordinates)]
    check([*nodes, _resize("", "sizes", **modes)], {"x": _X}, _CONSTANTS)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("coordinates", _COORDINATES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_interpolation(mode: str, coordinates: str) -> None:
    modes = {"coordinate_transformation_mode": coordinates, "mode": mode}
    nodes = [*(_resize(scales, **modes) for scales in _whole(coordinates)), _resize("", "sizes", **modes)]
    check(nodes, {"x": _X}, _CONSTANTS, rtol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_aligned_corners_of_fractional_lengths_are_those_of_the_onnx_package(mode: str) -> None:
    model = build_model([_resize("odd", coordinate_transformation_mode="align_corners", mode=mode)], {"x": _X}, _CONSTANTS)
    want = onnx.reference.ReferenceEvaluator(model).run(None, {"x": _X})[0]
    np.testing.assert_allclose(dlc.compile(model)(_X)[0], want, rtol=1e-4, atol=1e-4)


def test_cubic_that_excludes_what_is_outside() -> None:
    check([_resize("odd", mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)], {"x": _X}, _CONSTANTS, rtol=1e-4)


def test_axes_and_policies() -> None:
    constants = {"two": np.array([2, 3], np.float32), "sizes": np.array([7, 12], np.int64)}
    nodes = [
        _resize("two", axes=[2, 3]),
        _resize("", "sizes", axes=[3, 2], keep_aspect_ratio_policy="not_larger"),
        _resize("", "sizes", axes=[2, 3], keep_aspect_ratio_policy="not_smaller"),
    ]
    check(nodes, {"x": _X}, constants, opset=19, dynamic=False)


@pytest.mark.parametrize("scales", ["up", "odd"])
def test_resize_of_opset_10(scales: str) -> None:
    check([node("Resize", ["x", scales], mode="nearest"), node("Resize", ["x", scales], mode="linear")], {"x": _X}, _CONSTANTS, 10)


def test_upsample() -> None:
    check([node("Upsample", ["x", "up"]), node("Upsample", ["x", "up"], mode="linear")], {"x": _X}, _CONSTANTS, 9)
    check([node("Upsample", ["x"], scales=[1.0, 1.0, 2.0, 3.0])], {"x": _X}, opset=8)


@pytest.mark.parametrize(
    ("made", "opset"),
    [
        (node("Upsample", ["x"], scales=[1.0, 1.0, 2.0]), 8),
        (node("Upsample", ["x", "three"]), 9),
        (node("Resize", ["x", "three"]), 10),
        (_resize("three"), 13),
    ],
)
def test_scales_that_do_not_fit_the_axes(made: Any, opset: int) -> None:
    model = build_model([made], {"x": _X}, {"three": np.array([1, 1, 2], np.float32)}, opset=opset)
    with pytest.raises(dlc.UnsupportedError, match="scales has 3 numbers for 4 axes; give one for each"):
        dlc.compile(model)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, "roi has 0 numbers for 4 axes"),
        ({"antialias": 1, "mode": "linear"}, "must have a size that is known at compile time"),
    ],
)
def test_what_is_not_supported_is_reported(attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(dlc.UnsupportedError, match=reason):
        check([_resize("odd", **attributes)], {"x": _X}, _CONSTANTS, dynamic=True)


_REGION = np.array([0, 0, 0.2, -0.3, 1, 1, 0.9, 1.4], np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("shape", [(1, 2, 7, 3), (1, 2, 1, 9)])
def test_crops(mode: str, shape: tuple[int, ...]) -> None:
    """A region that reaches out of the image, where the value is another one."""
    given = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 10.0}
    constants = {"region": _REGION, "sizes": np.array(shape, np.int64)}
    check([node("Resize", ["x", "region", "", "sizes"], **given)], {"x": _X}, constants, dynamic=False, rtol=1e-4)


@pytest.mark.parametrize("axes", [[2, 3], [3, 2]])
def test_crops_of_axes(axes: list[int]) -> None:
    constants = {"region": np.array([0.4, 0.6, 0.6, 0.8], np.float32), "sizes": np.array([3, 4], np.int64)}
    given = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "axes": axes}
    check([node("Resize", ["x", "region", "", "sizes"], **given)], {"x": _X}, constants, opset=19, dynamic=False, rtol=1e-4)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("scale", [0.6, 0.21, 0.05])
def test_antialiasing(mode: str, scale: float) -> None:
    """From a few elements for a point to more than are gathered one by one."""
    x = np.random.default_rng(3).uniform(-5, 5, (1, 2, 50, 26)).astype(np.float32)
    constants = {"scales": np.array([1, 1, scale, min(1.5 * scale, 1.0)], np.float32)}
    given = {"mode": mode, "antialias": 1}
    model = build_model([node("Resize", ["x", "", "scales"], ["y"], **given)], {"x": x}, constants, opset=19)
    compare(dlc.compile(model)({"x": x})[0], ReferenceEvaluator(model).run(None, {"x": x})[0], "y", 1e-4)


def test_sizes_of_smooth_shrinking_are_read_at_the_call() -> None:
    x = np.random.default_rng(3).standard_normal((1, 1, 8, 8)).astype(np.float32)
    sizes = np.array([1, 1, 3, 5])
    model = build_model([node("Resize", ["x", "", "", "sizes"], mode="linear", antialias=1)], {"x": x, "sizes": sizes})
    compiled = dlc.compile(model)
    assert [spec.by_value for spec in compiled.inputs] == [False, True]
    expected = ReferenceEvaluator(model).run(None, {"x": x, "sizes": sizes})[0]
    np.testing.assert_allclose(compiled(x, sizes)[0], expected, rtol=1e-4, atol=1e-5)
