"""ONNX ops that read or write at positions, and selections, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(5)
_OPS = (
    "Gather",
    "GatherElements",
    "GatherND",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "TensorScatter",
    "TopK",
    "ReverseSequence",
)


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.uniform(-5, 5, shape).astype(np.float32)


def _indices(size: int, *shape: int) -> np.ndarray:
    return _GENERATOR.integers(-size, size, shape).astype(np.int64)


def test_gather() -> None:
    feeds = {"x": _floats(3, 4, 3), "i": _indices(3, 2, 5), "s": _indices(3)}
    nodes = [node("Gather", ["x", "i"]), node("Gather", ["x", "i"], axis=-1), node("Gather", ["x", "s"], axis=2)]
    check(nodes, feeds)


def test_gather_of_constant_indices() -> None:
    check([node("Gather", ["x", "i"], axis=1)], {"x": _floats(2, 4, 3)}, {"i": np.array(-1, np.int64)})


def test_gather_elements() -> None:
    check([node("GatherElements", ["x", "i"], axis=1)], {"x": _floats(3, 4), "i": _indices(4, 3, 2)})


@pytest.mark.parametrize("batch_dims", [0, 1])
def test_gather_nd(batch_dims: int) -> None:
    feeds = {"x": _floats(3, 3, 4), "i": _indices(3, 3, 2, 2)}
    check([node("GatherND", ["x", "i"], batch_dims=batch_dims)], feeds, dynamic=False)


def test_windows_stay_in_their_axis() -> None:
    """A window past the end is an error where run time knows its place, as where it is known before."""
    feeds = {"x": _floats(2, 4, 3), "u": _floats(2, 2, 3), "s": np.array([2, 0])}
    item = node("TensorScatter", ["x", "u", "s"], ["y"])
    compiled = dlc.compile(build_model([item], feeds, opset=24), num_threads=1)
    want = feeds["x"].copy()
    want[0, 2:], want[1, :2] = feeds["u"]
    np.testing.assert_array_equal(compiled(feeds)[0], want)
    for places in ([0, 3], [-1, 0]):
        with pytest.raises(dlc.InvalidInputError, match="a write index is negative, or its update goes past the end") as raised:
            compiled(feeds | {"s": np.array(places)})
        assert "'y'" in str(raised.value)
        given = {name: feeds[name] for name in ("x", "u")}
        with pytest.raises(dlc.UnsupportedError, match=r"write index (3|-1) does not fit 2 places into an axis of 4"):
            dlc.compile(build_model([item], given, {"s": np.array(places)}, opset=24))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter(reduction: str) -> None:
    column = np.stack([_GENERATOR.permutation(4)[:2] for _ in range(3)]).astype(np.int64)
    feeds = {"x": _floats(3, 4), "i": column, "u": _floats(3, 2), "t": np.array([[2], [0]], np.int64), "v": _floats(2, 4)}
    nodes = [
        node("ScatterElements", ["x", "i", "u"], axis=1, reduction=reduction),
        node("ScatterND", ["x", "t", "v"], reduction=reduction),
    ]
    check(nodes, feeds, dynamic=False)


def test_scatter_of_old_opsets() -> None:
    feeds = {"x": _floats(3, 4), "i": np.array([[0, 2, 1, 0]], np.int64), "u": _floats(1, 4)}
    check([node("Scatter", ["x", "i", "u"])], feeds, opset=9)


def test_top_k() -> None:
    nodes = [node("TopK", ["x", "k"], ["a", "b"]), node("TopK", ["x", "k"], ["c", "d"], axis=0, largest=0)]
    check(nodes, {"x": _floats(4, 7)}, {"k": np.array([3], np.int64)})


def test_top_k_of_old_opsets() -> None:
    check([node("TopK", ["x"], ["a", "b"], k=2, axis=-1)], {"x": _floats(4, 7)}, opset=9)


@pytest.mark.parametrize("axes", [(0, 1), (1, 0)])
def test_reverse_sequence(axes: tuple[int, int]) -> None:
    feeds = {"x": _floats(4, 4, 3), "lengths": np.array([4, 0, 3, 1], np.int64)}
    check([node("ReverseSequence", ["x", "lengths"], time_axis=axes[0], batch_axis=axes[1])], feeds)


def test_lengths_out_of_range_are_errors_of_the_call() -> None:
    feeds = {"x": _floats(4, 2), "lengths": np.array([4, 5], np.int64)}
    with pytest.raises(dlc.InvalidInputError, match="a length is negative or more than x has elements along axis 0"):
        dlc.compile(build_model([node("ReverseSequence", ["x", "lengths"])], feeds))(feeds)


@pytest.mark.slow
@pytest.mark.parametrize("op", _OPS)
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
