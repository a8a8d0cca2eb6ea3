"""Quantised ONNX ops against onnxruntime: conversions, products, convolutions; a network in quantised form."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_check import check, check_backend_cases, node, weight_limits

import dlc


def _bytes(*shape: int, dtype: type[np.integer] = np.uint8, seed: int = 0) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)


def _weights(*shape: int, dtype: type[np.integer]) -> np.ndarray:
    low, high = weight_limits(dtype)
    return np.random.default_rng(0).integers(low, high + 1, shape).astype(dtype)


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 2, shape).astype(np.float32)


def _scales(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.01, 0.1, shape).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("shape", "axis"), [((), 1), ((3,), 1), ((4,), -1), ((2,), 0)])
def test_conversions(dtype: type[np.integer], shape: tuple[int, ...], axis: int) -> None:
    constants = {"s": _scales(*shape), "z": _bytes(*shape, dtype=dtype)}
    x = np.concatenate([_random(2, 3, 3), np.full((2, 3, 1), 1e30, np.float32)], axis=2)
    check([node("QuantizeLinear", ["x", "s", "z"], axis=axis)], {"x": x}, constants, dynamic=False)
    check([node("DequantizeLinear", ["q", "s", "z"], axis=axis)], {"q": _bytes(2, 3, 4, dtype=dtype)}, constants)


def test_halves_go_to_the_even_number() -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 300.0, -300.0], np.float32)
    constants = {"s": np.array(1, np.float32), "z": np.array(3, np.int8)}
    check([node("QuantizeLinear", ["x", "s", "z"])], {"x": x}, constants)
    check([node("QuantizeLinear", ["x", "s"])], {"x": x}, {"s": constants["s"]})


def test_range_at_run_time() -> None:
    check([node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"])], {"x": _random(3, 5)})
    check([node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"])], {"x": np.abs(_random(3, 5)) + 1})
    check([node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"])], {"x": np.zeros((2, 3), np.float32)})


@pytest.mark.parametrize("group", [1, 8])
def test_convolution_of_a_range_at_run_time(group: int) -> None:
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        node("ConvInteger", ["q", "w", "zero", "wz"], ["sums"], group=group, pads=[1, 1, 1, 1]),
        node("Cast", ["sums"], ["wide"], to=onnx.TensorProto.FLOAT),
        node("Mul", ["scale", "ws"], ["factor"]),
        node("Mul", ["wide", "factor"], ["y"]),
    ]
    constants = {"w": _weights(8, 8 // group, 3, 3, dtype=np.int8), "wz": np.array(0, np.int8), "ws": np.array(0.03, np.float32)}
    check(nodes, {"x": _random(2, 8, 9, 11)}, constants)


@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_matmul(dtype: type[np.integer], per_column: bool) -> None:
    columns = (21,) if per_column else ()
    constants = {
        "as": np.array(0.02, np.float32),
        "az": np.array(120, np.uint8),
        "b": _weights(70, 21, dtype=dtype),
        "bs": _scales(*columns),
        "bz": _bytes(*columns, dtype=dtype),
        "ys": np.array(3.1, np.float32),
        "yz": np.array(99, np.uint8),
    }
    check([node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"])], {"a": _bytes(2, 5, 70)}, constants)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_conv(biased: bool, per_channel: bool) -> None:
    channels = (6,) if per_channel else ()
    constants = {
        "xs": np.array(0.02, np.float32),
        "xz": np.array(120, np.uint8),
        "w": _weights(6, 4, 3, 3, dtype=np.int8),
        "ws": _scales(*channels),
        "wz": np.zeros(channels, np.int8),
        "ys": np.array(0.9, np.float32),
        "yz": np.array(99, np.uint8),
        **({"b": np.arange(6, dtype=np.int32) * 100} if biased else {}),
    }
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", *(["b"] if biased else [])]
    check([node("QLinearConv", names, pads=[1, 1, 1, 1], strides=[2, 2])], {"x": _bytes(1, 4, 9, 9)}, constants)


def test_blocks_need_a_known_size() -> None:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, "n"])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.UINT8, None)
    scale = onnx.numpy_helper.from_array(np.ones((2, 2), np.float32), "s")
    nodes = [onnx.helper.make_node("QuantizeLinear", ["x", "s"], ["y"], block_size=2, axis=1)]
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "g", [x], [y], [scale]), opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10
    )
    with pytest.raises(dlc.UnsupportedError, match="known number of blocks"):
        dlc.compile(model)


@pytest.mark.parametrize("size", [4, 3])
def test_scales_of_blocks(size: int) -> None:
    """The last block may be a part of one."""
    scale = np.linspace(0.01, 0.09, 2 * -(-8 // size), dtype=np.float32).reshape(2, -1)
    zero = np.arange(scale.size, dtype=np.uint8).reshape(scale.shape)
    x = np.random.default_rng(3).uniform(-4, 4, (2, 8)).astype(np.float32)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], block_size=size),
        node("DequantizeLinear", ["q", "s", "z"], ["y"], block_size=size),
    ]
    check(nodes, {"x": x}, {"s": scale, "z": zero}, dynamic=False)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["QLinearMatMul", "QLinearConv", "DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
