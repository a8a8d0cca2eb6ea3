"""ONNX ops that join, cut and pad, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_check import check, check_backend_cases, node

_GENERATOR = np.random.default_rng(4)
_FAR = np.iinfo(np.int64).max


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.uniform(-5, 5, shape).astype(np.float32)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_concat() -> None:
    feeds = {"x": _floats(2, 3, 4), "y": _floats(2, 1, 4), "z": _floats(2, 3, 4)}
    nodes = [node("Concat", ["x", "y", "z", "y"], axis=1), node("Concat", ["x", "z"], axis=-1), node("Concat", ["x"], axis=0)]
    check(nodes, feeds)


def test_split() -> None:
    nodes = [
        node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2),
        node("Split", ["x"], ["c", "d", "e"], axis=-1, num_outputs=3),
        node("Split", ["x", "sizes"], ["f", "g"], axis=1),
    ]
    check(nodes, {"x": _floats(2, 6, 7)}, {"sizes": _ints(1, 5)})


def test_split_of_old_opsets() -> None:
    nodes = [node("Split", ["x"], ["a", "b"], axis=1, split=[2, 4]), node("Split", ["x"], ["c", "d"])]
    check(nodes, {"x": _floats(2, 6)}, opset=11)
    check([node("Split", ["x"], ["a", "b", "c"], axis=1)], {"x": _floats(2, 6)}, opset=13)


def test_split_by_sizes_that_run_time_knows() -> None:
    check([node("Split", ["x", "sizes"], ["a", "b"], axis=1)], {"x": _floats(2, 6), "sizes": _ints(4, 2)}, dynamic=False)


def test_slice() -> None:
    constants = {"s": _ints(1, -1), "e": _ints(_FAR, -_FAR), "a": _ints(2, 0), "p": _ints(2, -1), "m": _ints(-2)}
    constants |= {"f": _ints(_FAR), "l": _ints(-1)}
    nodes = [node("Slice", ["x", "s", "e", "a", "p"]), node("Slice", ["x", "s", "e"]), node("Slice", ["x", "m", "f", "l"])]
    check(nodes, {"x": _floats(3, 4, 5)}, constants)


def test_slice_of_old_opsets() -> None:
    nodes = [node("Slice", ["x"], starts=[1, 0], ends=[3, -1], axes=[0, 2]), node("Slice", ["x"], starts=[1], ends=[1000])]
    check(nodes, {"x": _floats(4, 3, 5)}, opset=9)


def test_slice_by_bounds_that_run_time_knows() -> None:
    feeds = {"x": _floats(4, 5), "s": _ints(1, -1), "e": _ints(_FAR, 1)}
    nodes = [node("Slice", ["x", "s", "e", "a", "p"]), node("Slice", ["x", "zeros", "e"]), node("Slice", ["x", "s", "ends"])]
    check(nodes, feeds, {"a": _ints(0, 1), "p": _ints(1, -2), "zeros": _ints(0, 0), "ends": _ints(9, 9)}, dynamic=False)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pad(mode: str) -> None:
    check([node("Pad", ["x", "p"], mode=mode)], {"x": _floats(2, 3, 4)}, {"p": _ints(0, 2, 1, 1, 0, 2)})


def test_pad_with_a_value() -> None:
    constants = {"p": _ints(1, -1, 0, 2), "v": np.array(2.5, np.float32), "a": _ints(-1), "q": _ints(2, 1)}
    nodes = [node("Pad", ["x", "p", "v"]), node("Pad", ["x", "q", "", "a"]), node("Pad", ["x", "p", "w"])]
    check(nodes, {"x": _floats(2, 3), "w": np.array(-1.5, np.float32)}, constants)


def test_pad_of_old_opsets() -> None:
    check([node("Pad", ["x"], pads=[0, 1, 2, 0], value=1.5)], {"x": _floats(2, 3)}, opset=10)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Concat", "Split", "Slice", "Pad"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
