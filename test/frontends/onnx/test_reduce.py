"""ONNX reductions against onnxruntime: axes as attribute and as input, over all opsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(8)
_PLAIN = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")
_COMPOSED = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
_OPS = (*_PLAIN, *_COMPOSED)
_AXES = np.array([1], np.int64)


def _positive(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return _GENERATOR.uniform(0.5, 2, shape).astype(dtype)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_axes_as_input(keepdims: int) -> None:
    nodes = [node(op, ["x", "axes"], keepdims=keepdims) for op in _OPS]
    check(nodes, {"x": _positive(2, 3, 5)}, {"axes": np.array([-1, 0], np.int64)})


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("opset", [7, 11, 13, 17])
def test_axes_as_attribute(opset: int) -> None:
    ops = [op for op in _OPS if op != "ReduceSum" or opset < 13]
    check([node(op, ["x"], axes=[1], keepdims=0) for op in ops], {"x": _positive(2, 3, 5)}, opset=opset)


def test_no_axes() -> None:
    check([node(op, ["x"], keepdims=0) for op in _OPS], {"x": _positive(3, 5)})
    check([node(op, ["x"], noop_with_empty_axes=1) for op in _PLAIN], {"x": _positive(3, 5)}, dynamic=False)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_reductions_of_integers(dtype: type) -> None:
    nodes = [node(op, ["x", "axes"]) for op in (*_PLAIN, "ReduceL1", "ReduceSumSquare")]
    check(nodes, {"x": _GENERATOR.integers(-5, 9, (4, 3)).astype(dtype)}, {"axes": _AXES})


def test_log_sum_exp_is_stable() -> None:
    x = np.array([[1000.0, 1000.5, 999.0], [-1000.0, -1001.0, -1000.5]], np.float32)
    (found,) = dlc.compile(build_model([node("ReduceLogSumExp", ["x", "axes"])], {"x": x}, {"axes": _AXES}))(x)
    np.testing.assert_allclose(found, np.logaddexp.reduce(x.astype(np.float64), axis=1, keepdims=True), rtol=1e-6)


def test_half_precision_does_not_overflow_inside() -> None:
    x = np.full((2, 4), 300.0, np.float16)
    (found,) = dlc.compile(build_model([node("ReduceL2", ["x", "axes"])], {"x": x}, {"axes": _AXES}))(x)
    np.testing.assert_array_equal(found, np.full((2, 1), 600, np.float16))


@settings(max_examples=4)
@given(axis=st.integers(-3, 2), keepdims=st.integers(0, 1), last=st.integers(0, 1))
def test_places_of_extrema(axis: int, keepdims: int, last: int) -> None:
    attributes: dict[str, Any] = {"axis": axis, "keepdims": keepdims, "select_last_index": last}
    check(
        [node(op, ["x"], **attributes) for op in ("ArgMax", "ArgMin")],
        {"x": _GENERATOR.integers(0, 3, (3, 4, 5)).astype(np.float32)},
    )


@pytest.mark.parametrize("axis", [0, -1])
def test_running_sums(axis: int) -> None:
    flags = [{"exclusive": exclusive, "reverse": reverse} for exclusive in (0, 1) for reverse in (0, 1)]
    check([node("CumSum", ["x", "axis"], **flag) for flag in flags], {"x": _positive(3, 4, 5)}, {"axis": np.array(axis)})


def test_unknown_axes_are_reported() -> None:
    model = build_model([node("ReduceSum", ["x", "axes"])], {"x": _positive(2, 3), "axes": _AXES})
    with pytest.raises(dlc.ValuesNeededError, match=r"axes \(input 1\) must be known at compile time") as caught:
        dlc.import_onnx(model)
    assert caught.value.values == ("axes",)


@pytest.mark.slow
@pytest.mark.parametrize("op", [*_OPS, "ArgMax", "ArgMin", "CumSum", "CumProd"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
