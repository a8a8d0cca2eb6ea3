"""ONNX ops whose values depend on their position, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_check import check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(6)


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.uniform(-5, 5, shape).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_range(dtype: type) -> None:
    feeds = {name: np.array(value, dtype) for name, value in (("start", 9), ("limit", -2), ("step", -3))}
    check([node("Range", ["start", "limit", "step"])], feeds)


_LOW, _HIGH = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("start", "limit", "step"),
    [
        (_LOW, _HIGH, 2**62),
        (_HIGH, _LOW, -(2**62)),
        (_HIGH, _LOW, _LOW),
        (_LOW, _HIGH, _HIGH),
        (0, _LOW, _LOW),
        (2**60, 2**60 + 3, 1),
    ],
)
def test_range_over_numbers_further_apart_than_i64_counts(start: int, limit: int, step: int) -> None:
    feeds = {name: np.array(value, np.int64) for name, value in (("start", start), ("limit", limit), ("step", step))}
    check([node("Range", ["start", "limit", "step"])], feeds)


@pytest.mark.parametrize(("start", "limit", "step"), [(_LOW, _HIGH, 1), (0, _LOW, -1), (_HIGH, _LOW, -1)])
def test_range_of_more_numbers_than_memory_holds(start: int, limit: int, step: int) -> None:
    kinds = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, []) for name in ("start", "limit", "step")]
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, ["n"])
    graph = onnx.helper.make_graph([node("Range", ["start", "limit", "step"], ["y"])], "g", kinds, [result])
    model = dlc.compile(onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)]), cache=False)
    with pytest.raises(dlc.OutOfMemoryError, match="more than 64 bits can count"):
        model(*(np.array(value, np.int64) for value in (start, limit, step)))


def test_trilu() -> None:
    constants = {"k": np.array(-1, np.int64)}
    check([node("Trilu", ["x"]), node("Trilu", ["x", "k"], upper=0)], {"x": _floats(2, 4, 5)}, constants)


def test_eye_like() -> None:
    check([node("EyeLike", ["x"]), node("EyeLike", ["x"], k=1, dtype=7), node("EyeLike", ["x"], k=-2)], {"x": _floats(4, 5)})


def test_one_hot() -> None:
    feeds = {"i": _GENERATOR.integers(-4, 4, (2, 3)).astype(np.int64), "v": np.array([2, 5], np.float32)}
    nodes = [node("OneHot", ["i", "d", "v"]), node("OneHot", ["i", "d", "v"], axis=0)]
    check(nodes, feeds, {"d": np.array(4, np.int64)}, dynamic=False)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Range", "Trilu", "EyeLike", "OneHot"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
