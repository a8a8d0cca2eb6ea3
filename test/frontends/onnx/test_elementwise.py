"""ONNX elementwise arithmetic and casts against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(3)
_OPS = ("Abs", "Add", "Cast", "CastLike", "Ceil", "Clip", "Div", "Floor", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Pow")
_MORE_OPS = ("Round", "Sign", "Sub", "Sum")


def _floats(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return _GENERATOR.uniform(-3, 3, shape).astype(dtype)


def test_unary_arithmetic() -> None:
    ops = ("Abs", "Ceil", "Floor", "Neg", "Round", "Sign")
    check([node(op, ["x"]) for op in ops], {"x": _floats(2, 3, 5)})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_binary_arithmetic_broadcasts(dtype: type) -> None:
    feeds = {"x": _floats(2, 1, 5, dtype=dtype), "y": _floats(3, 1, dtype=dtype) + dtype(4)}
    check([node(op, ["x", "y"]) for op in ("Add", "Sub", "Mul", "Div")], feeds)


@pytest.mark.parametrize("inputs", [["x"], ["x", "y"], ["x", "y", "z"]])
def test_variadic_ops(inputs: list[str]) -> None:
    feeds = {"x": _floats(2, 5), "y": _floats(5), "z": _floats(2, 1)}
    check([node(op, inputs) for op in ("Max", "Min", "Sum", "Mean")], {name: feeds[name] for name in inputs})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_known_exponents(dtype: type) -> None:
    exponents = {f"e{index}": np.array(value, dtype) for index, value in enumerate((2, 3, 0.5, -0.5, -1, 1.7, 0))}
    feeds = {"x": np.abs(_floats(3, 5, dtype=dtype)) + dtype(0.1)}
    check([node("Pow", ["x", name]) for name in exponents], feeds, exponents, dynamic=False)


def test_power_whose_exponent_has_the_greater_rank() -> None:
    check([node("Pow", ["x", "e"])], {"x": _floats(3)}, {"e": np.full((1, 1), 2, np.float32)})


def test_powers_of_other_types() -> None:
    feeds = {"x": np.abs(_floats(3, 5)) + 1, "n": np.array([0, 1, 2, 3, 5], np.int64), "i": np.array([-2, -1, 0, 3, 7], np.int32)}
    check([node("Pow", ["x", "n"]), node("Pow", ["i", "n"])], feeds)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_remainders(dtype: type) -> None:
    feeds = {"x": np.arange(0, 14).astype(dtype) - dtype(0 if dtype is np.uint8 else 7), "y": np.array([[3], [5], [1]], dtype)}
    if dtype is not np.uint8:
        feeds["y"][1] = -5
    check([node("Mod", ["x", "y"]), node("Mod", ["x", "y"], fmod=1)], feeds)


@pytest.mark.parametrize("bounds", [("low", "high"), ("low",), ("", "high"), ()])
@pytest.mark.parametrize("known", [False, True])
def test_clip_with_optional_bounds(bounds: tuple[str, ...], known: bool) -> None:
    values = {"low": np.array(-1, np.float32), "high": np.array(1.5, np.float32)}
    given = {name: values[name] for name in bounds if name}
    feeds = {"x": _floats(4, 5), **({} if known else given)}
    check([node("Clip", ["x", *bounds])], feeds, given if known else None)


def test_clip_of_old_opsets() -> None:
    check([node("Clip", ["x"], min=-1.0, max=0.5), node("Clip", ["x"], max=0.25)], {"x": _floats(4, 5)}, opset=10)


def test_clip_to_integers_that_no_float_holds() -> None:
    bounds = {"low": np.array(-(2**62) - 1, np.int64), "high": np.array(2**62 + 1, np.int64)}
    check([node("Clip", ["x", "low", "high"])], {"x": np.array([-(2**63), -5, 7, 2**63 - 1], np.int64)}, bounds)


def test_casts() -> None:
    kinds = (TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.INT32, TensorProto.INT8, TensorProto.BOOL)
    check([node("Cast", ["x"], to=kind) for kind in kinds], {"x": np.array([-7.5, -1.0, 0.0, 0.5, 2.5, 100.0], np.float32)})
    check([node("Cast", ["x"], to=kind) for kind in (*kinds, TensorProto.UINT8)], {"x": np.array([0, 1, 5, 120], np.int32)})
    check([node("CastLike", ["x", "like"])], {"x": _floats(3), "like": np.zeros((2, 2), np.float64)})


def test_casts_to_text_and_back() -> None:
    x = np.array([1.5, -2.0, 0.1], np.float32)
    nodes = [node("Cast", ["x"], ["text"], to=TensorProto.STRING), node("Cast", ["text"], ["y"], to=TensorProto.FLOAT)]
    (y,) = dlc.compile(build_model(nodes, {"x": x}))(x)
    np.testing.assert_array_equal(y, x)
    (text,) = dlc.compile(build_model(nodes[:1], {"x": x}))(x)
    assert text.tolist() == ["1.5", "-2.0", "0.1"]


def test_casts_of_bits() -> None:
    x = np.array([[1.0, -0.0], [np.inf, 3.5]], np.float32)
    nodes = [node("BitCast", ["x"], ["bits"], to=6), node("BitCast", ["bits"], ["back"], to=1)]
    (found,) = dlc.compile(build_model(nodes, {"x": x}, opset=26))(x)
    np.testing.assert_array_equal(found, x)


@pytest.mark.slow
@pytest.mark.parametrize("op", [*_OPS, *_MORE_OPS])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
