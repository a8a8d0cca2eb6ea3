"""ONNX ops that read images between their elements, against onnxruntime and the onnx package's node tests."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_check import check, check_backend_cases, node

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


@pytest.mark.parametrize(("op", "count"), [("GridSample", 18)])
def test_backend_cases(op: str, count: int) -> None:
    assert check_backend_cases(op) == count
