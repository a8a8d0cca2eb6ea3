"""ONNX comparisons, logic on bits and selection against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_check import check, check_backend_cases, node

_GENERATOR = np.random.default_rng(6)
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_LOGIC = ("And", "Or", "Xor")
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
_OPS = (*_COMPARISONS, *_LOGIC, *_BITS, "Not", "BitwiseNot", "IsInf", "IsNaN", "BitShift", "Where")


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_comparisons(dtype: type) -> None:
    feeds = {"x": _GENERATOR.integers(-2, 3, (2, 1, 5)).astype(dtype), "y": _GENERATOR.integers(-2, 3, (3, 1)).astype(dtype)}
    check([node(op, ["x", "y"]) for op in _COMPARISONS], feeds)


def test_comparisons_of_nan() -> None:
    values = np.array([-np.inf, -1, 0, 1, np.inf, np.nan], np.float32)
    check([node(op, ["x", "y"]) for op in _COMPARISONS], {"x": values, "y": values[:, None]})


def test_logic() -> None:
    feeds = {"x": _GENERATOR.integers(0, 2, (3, 5)).astype(bool), "y": _GENERATOR.integers(0, 2, 5).astype(bool)}
    check([*(node(op, ["x", "y"]) for op in _LOGIC), node("Not", ["x"])], feeds)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_bits(dtype: type) -> None:
    feeds = {"x": _GENERATOR.integers(0, 100, (3, 5)).astype(dtype), "y": _GENERATOR.integers(0, 100, 5).astype(dtype)}
    check([*(node(op, ["x", "y"]) for op in _BITS), node("BitwiseNot", ["x"])], feeds)


def test_shifts() -> None:
    feeds = {"x": np.array([[1, 3, 255], [128, 0, 77]], np.uint8), "y": np.array([0, 1, 7], np.uint8)}
    check([node("BitShift", ["x", "y"], direction=direction) for direction in ("LEFT", "RIGHT")], feeds)


def test_tests_of_one_element() -> None:
    flags = ({}, {"detect_positive": 0}, {"detect_negative": 0}, {"detect_positive": 0, "detect_negative": 0})
    feeds = {"x": np.array([-np.inf, -1, 0, np.inf, np.nan], np.float32)}
    check([node("IsNaN", ["x"]), *(node("IsInf", ["x"], **flag) for flag in flags)], feeds)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
def test_selection(dtype: type) -> None:
    feeds = {
        "c": np.array([[True], [False], [True]]),
        "x": _GENERATOR.integers(0, 9, (2, 1, 5)).astype(dtype),
        "y": np.array(7, dtype),
    }
    check([node("Where", ["c", "x", "y"])], feeds)


@pytest.mark.slow
@pytest.mark.parametrize("op", _OPS)
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
