"""ONNX convolutions against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(12)


def _random(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def _bytes(*shape: int) -> np.ndarray:
    return _GENERATOR.integers(0, 256, shape).astype(np.uint8)


@settings(max_examples=6)
@given(
    strides=st.lists(st.integers(1, 3), min_size=2, max_size=2),
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    dilations=st.lists(st.integers(1, 2), min_size=2, max_size=2),
    group=st.sampled_from([1, 2, 4]),
)
def test_conv(strides: list[int], pads: list[int], dilations: list[int], group: int) -> None:
    feeds = {"x": _random(2, 4, 7, 8)}
    constants = {"w": _random(8, 4 // group, 3, 2), "b": _random(8)}
    attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
    check([node("Conv", ["x", "w", "b"], **attributes)], feeds, constants)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_automatic_pads_of_conv(auto_pad: str, stride: int) -> None:
    nodes = [node("Conv", ["x", "w"], auto_pad=auto_pad, strides=[stride, stride])]
    check(nodes, {"x": _random(1, 2, 7, 8)}, {"w": _random(3, 2, 3, 4)}, dynamic=False)


def test_automatic_pads_of_dynamic_input() -> None:
    """With strides, code is made for the dims of a call."""
    for strides in ([1, 1], [2, 2]):
        nodes = [node("Conv", ["x", "w"], auto_pad="SAME_UPPER", strides=strides)]
        check(nodes, {"x": _random(1, 2, 7, 8)}, {"w": _random(3, 2, 3, 4)})
    model = build_model(nodes, {"x": _random(1, 2, 7, 8)}, {"w": _random(3, 2, 3, 4)}, dynamic=True)
    with pytest.raises(dlc.ValuesNeededError, match="auto_pad with strides needs spatial dims"):
        dlc.import_onnx(model)
    assert dlc.compile(model).inputs[0].by_shape


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("rank", [1, 3])
def test_spatial_ranks(rank: int) -> None:
    x, w = _random(2, 3, *[5] * rank), _random(4, 3, *[2] * rank)
    check([node("Conv", ["x", "w"], pads=[1] * (2 * rank))], {"x": x, "w": w}, opset=11)
    up = _random(3, 2, *[2] * rank)
    check([node("ConvTranspose", ["x", "w"], strides=[2] * rank)], {"x": x, "w": up}, opset=11)


def test_conv_of_bytes() -> None:
    zeros = {"xz": np.array(100, np.uint8), "wz": np.array(130, np.uint8)}
    feeds = {"x": _bytes(1, 2, 5, 5), "w": _bytes(3, 2, 3, 3)}
    check([node("ConvInteger", ["x", "w", "xz", "wz"], pads=[1, 1, 1, 1])], feeds, zeros)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [2, 3]},
        {"strides": [2, 2], "pads": [1, 0, 1, 1], "output_padding": [1, 0]},
        {"strides": [1, 2], "dilations": [2, 1], "group": 2},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
    ],
    ids=str,
)
def test_conv_transpose(attributes: dict[str, Any]) -> None:
    constants = {"w": _random(4, 3, 3, 3), "b": _random(3 * attributes.get("group", 1))}
    check([node("ConvTranspose", ["x", "w", "b"], **attributes)], {"x": _random(2, 4, 4, 5)}, constants)


@pytest.mark.parametrize("shape", [[10, 8], [9, 7], [7, 6]])
def test_wanted_shape_of_conv_transpose(shape: list[int]) -> None:
    nodes = [node("ConvTranspose", ["x", "w"], strides=[3, 2], output_shape=shape)]
    check(nodes, {"x": _random(1, 2, 3, 3)}, {"w": _random(2, 3, 3, 3)}, dynamic=False)


def test_depthwise_conv_of_tokens() -> None:
    """Values of attention as an image, as CoaT's positions read them: neighbours in a row lie apart in memory."""
    side, heads, width = 56, 8, 8
    tokens, channels = side * side + 1, heads * width
    constants = {
        "parts": np.array([1, tokens, 3, heads, width]),
        "last": np.array(2),
        "one": np.array([1]),
        "end": np.array([tokens]),
        "axis": np.array([2]),
        "shape": np.array([1, channels, side, side]),
        "w": _random(channels, 1, 3, 3),
    }
    nodes = [
        node("Reshape", ["x", "parts"], ["apart"]),
        node("Transpose", ["apart"], ["by_part"], perm=[2, 0, 3, 1, 4]),
        node("Gather", ["by_part", "last"], ["values"], axis=0),
        node("Slice", ["values", "one", "end", "axis"], ["rows"]),
        node("Transpose", ["rows"], ["columns"], perm=[0, 1, 3, 2]),
        node("Reshape", ["columns", "shape"], ["image"]),
        node("Conv", ["image", "w"], ["y"], group=channels, pads=[1, 1, 1, 1]),
    ]
    check(nodes, {"x": _random(1, tokens, 3 * channels)}, constants, dynamic=False)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Conv", "ConvInteger", "ConvTranspose"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
