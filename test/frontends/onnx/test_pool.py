"""ONNX poolings against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(13)


def _random(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


@settings(max_examples=6)
@given(
    kernel=st.lists(st.integers(2, 3), min_size=2, max_size=2),
    strides=st.lists(st.integers(1, 3), min_size=2, max_size=2),
    pads=st.lists(st.integers(0, 1), min_size=4, max_size=4),
    ceil_mode=st.integers(0, 1),
)
def test_poolings(kernel: list[int], strides: list[int], pads: list[int], ceil_mode: int) -> None:
    window: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": pads, "ceil_mode": ceil_mode}
    nodes = [node("MaxPool", ["x"], **window), node("AveragePool", ["x"], **window)]
    nodes.append(node("AveragePool", ["x"], count_include_pad=1, **window))
    check(nodes, {"x": _random(2, 3, 7, 6)})


@pytest.mark.parametrize("opset", [7, 10, 12, 19])
def test_opsets(opset: int) -> None:
    nodes = [node(op, ["x"], kernel_shape=[3, 2], strides=[2, 2]) for op in ("MaxPool", "AveragePool", "LpPool")]
    check(nodes, {"x": _random(1, 2, 7, 6)}, opset=opset)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_automatic_pads(auto_pad: str) -> None:
    attributes: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": auto_pad}
    check([node(op, ["x"], **attributes) for op in ("MaxPool", "AveragePool")], {"x": _random(1, 2, 7, 6)}, dynamic=False)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("rank", [1, 3])
def test_spatial_ranks(rank: int) -> None:
    attributes: dict[str, Any] = {"kernel_shape": [3] * rank, "pads": [1] * (2 * rank), "strides": [2] * rank}
    check([node(op, ["x"], **attributes) for op in ("MaxPool", "AveragePool")], {"x": _random(1, 2, *[5] * rank)})


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows(p: int) -> None:
    nodes = [node("LpPool", ["x"], kernel_shape=[2, 3], p=p), node("GlobalLpPool", ["x"], p=p)]
    check(nodes, {"x": _random(2, 3, 5, 4)})


def test_dilations() -> None:
    check([node("MaxPool", ["x"], kernel_shape=[2, 3], dilations=[2, 2])], {"x": _random(1, 2, 7, 6)})


def test_max_pool_of_bytes() -> None:
    x = _GENERATOR.integers(0, 256, (1, 2, 5, 5)).astype(np.uint8)
    check([node("MaxPool", ["x"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])], {"x": x})


def test_global_poolings() -> None:
    check([node(op, ["x"]) for op in ("GlobalAveragePool", "GlobalMaxPool")], {"x": _random(2, 3, 5, 4)})


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("storage_order", [0, 1])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_places_of_maxima(rank: int, storage_order: int) -> None:
    window: dict[str, Any] = {"kernel_shape": [3] * rank, "strides": [2] * rank, "pads": [1] * (2 * rank)}
    check([node("MaxPool", ["x"], ["y", "at"], storage_order=storage_order, **window)], {"x": _random(2, 3, *[6, 5, 7][:rank])})


def test_max_unpool() -> None:
    window: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [node("MaxPool", ["x"], ["y", "at"], **window), node("MaxUnpool", ["y", "at"], ["back"], **window)]
    check(nodes, {"x": _random(2, 3, 6, 4)}, dynamic=False)


def test_max_unpool_of_open_dims_is_reported() -> None:
    feeds = {"x": _random(1, 1, 2, 2), "at": np.zeros((1, 1, 2, 2), np.int64)}
    model = build_model([node("MaxUnpool", ["x", "at"], kernel_shape=[2, 2])], feeds, dynamic=True)
    with pytest.raises(dlc.ValuesNeededError, match="its dims must be known at compile time") as caught:
        dlc.import_onnx(model)
    assert caught.value.shapes == ("x",)
    found = dlc.compile(model)(feeds | {"x": np.ones((1, 1, 2, 2), np.float32)})
    assert found[0].shape == (1, 1, 3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["MaxPool", "MaxUnpool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]])
@pytest.mark.parametrize("strides", [[1, 1], [2, 2], [3, 2]])
def test_powers_with_ceil_mode(strides: list[int], pads: list[int]) -> None:
    x = np.random.default_rng(5).standard_normal((2, 3, 5, 6)).astype(np.float32)
    given = {"kernel_shape": [3, 2], "strides": strides, "pads": pads, "ceil_mode": 1}
    check([node("LpPool", ["x"], p=power, **given) for power in (1, 2)], {"x": x}, opset=18, dynamic=False)
