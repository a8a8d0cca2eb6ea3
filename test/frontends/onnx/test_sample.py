"""ONNX ops that read images between their elements, against onnxruntime and the onnx package's node tests."""

from __future__ import annotations

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from onnx_check import build_model, check, check_backend_cases, compare, node

import dlc

_GENERATOR = np.random.default_rng(23)
_X = _GENERATOR.uniform(-5, 5, (2, 3, 5, 6)).astype(np.float32)
_GRID = _GENERATOR.uniform(-1.5, 1.5, (2, 4, 3, 2)).astype(np.float32)


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_grid_sample(padding_mode: str, align_corners: int) -> None:
    shared = {"padding_mode": padding_mode, "align_corners": align_corners}
    nodes = [node("GridSample", ["x", "grid"], mode=mode, **shared) for mode in ("nearest", "linear")]
    check(nodes, {"x": _X, "grid": _GRID}, opset=20, rtol=1e-4)


def test_names_of_modes_before_opset_20() -> None:
    nodes = [node("GridSample", ["x", "grid"], mode=mode) for mode in ("bilinear", "bicubic", "nearest")]
    check(nodes, {"x": _X, "grid": _GRID}, opset=16, rtol=1e-4)


@pytest.mark.parametrize("has_mask", [False, True])
def test_deformable_convolution(has_mask: bool) -> None:
    feeds = {
        "x": _X[:, :2],
        "w": _GENERATOR.uniform(-1, 1, (4, 1, 2, 3)).astype(np.float32),
        "offset": _GENERATOR.uniform(-2, 2, (2, 24, 3, 6)).astype(np.float32),
        "b": np.arange(4, dtype=np.float32),
        "mask": _GENERATOR.uniform(0, 1, (2, 12, 3, 6)).astype(np.float32),
    }
    window = {"strides": [2, 1], "pads": [1, 1, 0, 1], "group": 2, "offset_group": 2}
    model = build_model([node("DeformConv", list(feeds)[: 5 if has_mask else 4], ["y"], **window)], feeds, opset=22)
    compare(dlc.compile(model)(feeds)[0], ReferenceEvaluator(model).run(None, feeds)[0], "y", 1e-4)


def test_open_dims_of_deformable_convolutions_are_reported() -> None:
    feeds = {"x": _X[:, :2], "w": np.ones((1, 2, 1, 1), np.float32), "offset": np.zeros((2, 2, 5, 6), np.float32)}
    with pytest.raises(dlc.UnsupportedError, match="must be images with dims known at compile time"):
        dlc.compile(build_model([node("DeformConv", list(feeds))], feeds, opset=22, dynamic=True))


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_affine_grid(dtype: type, align_corners: int) -> None:
    item = node("AffineGrid", ["theta", "size"], ["y"], align_corners=align_corners)
    feeds = {"theta": _GENERATOR.uniform(-1, 1, (2, 3, 4)).astype(dtype)}
    model = build_model([item], feeds, {"size": np.array([2, 1, 3, 4, 5])}, opset=20)
    wanted = ReferenceEvaluator(model).run(None, feeds)[0]  # of f32
    compare(dlc.compile(model)(feeds)[0], wanted.astype(dtype), "y", 1e-5)


def test_one_element_along_an_axis_lies_in_the_middle() -> None:
    theta, item = _GENERATOR.uniform(-1, 1, (2, 2, 3)).astype(np.float32), node("AffineGrid", ["theta", "size"], align_corners=1)
    size = np.array([2, 1, 1, 1])
    known = dlc.compile(build_model([item], {"theta": theta}, {"size": size}, opset=20))(theta)[0]
    computed = dlc.compile(build_model([item], {"theta": theta, "size": size}, opset=20))(theta, size)[0]
    np.testing.assert_allclose(known, theta[:, None, None, :, 2], rtol=1e-6)
    np.testing.assert_allclose(computed, known, rtol=1e-6)


def test_theta_that_does_not_fit_is_reported() -> None:
    model = build_model([node("AffineGrid", ["theta", "size"])], {"theta": _X[0]}, {"size": np.array([3, 1, 4, 5])}, opset=20)
    with pytest.raises((dlc.UnsupportedError, dlc.ParseError)):
        dlc.compile(model)


def test_columns_to_images() -> None:
    feeds = {"x": _GENERATOR.uniform(-1, 1, (2, 3 * 6, 12)).astype(np.float32)}
    constants = {"image": np.array([6, 7]), "block": np.array([2, 3])}
    window = {"strides": [2, 1], "pads": [1, 0, 0, 1], "dilations": [1, 2]}
    check([node("Col2Im", ["x", "image", "block"], **window)], feeds, constants, opset=18, dynamic=False)


@pytest.mark.slow
@pytest.mark.parametrize(("op", "count"), [("GridSample", 18), ("AffineGrid", 4), ("DeformConv", 4), ("Col2Im", 5)])
def test_backend_cases(op: str, count: int) -> None:
    assert check_backend_cases(op) == count
