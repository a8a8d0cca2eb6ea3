"""ONNX ops that reshape, reorder and repeat, against onnxruntime, and the chains that exporters make of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(3)
_OPS = ("Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Expand", "Tile", "Shape", "Size", "SpaceToDepth")
_OPS += ("DepthToSpace",)


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.uniform(-5, 5, shape).astype(np.float32)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_reshape() -> None:
    shapes = {"a": _ints(0, -1), "b": _ints(-1), "c": _ints(0, 0, 2, 2), "d": _ints(4, 0, -1), "e": _ints(3, 2, 4)}
    check([node("Reshape", ["x", name]) for name in shapes], {"x": _floats(2, 3, 4)}, shapes)


def test_reshape_to_a_shape_that_run_time_knows() -> None:
    feeds = {"x": _floats(2, 3, 4), "shape": _ints(0, -1, 2, 2)}
    check([node("Reshape", ["x", "shape"])], feeds, dynamic=False)


def test_reshape_of_nothing() -> None:
    check([node("Reshape", ["x", "s"], allowzero=1)], {"x": _floats(0, 4)}, {"s": _ints(2, 0)})


@pytest.mark.parametrize("axis", [0, 1, 2, 3, 4, -1, -3])
def test_flatten(axis: int) -> None:
    check([node("Flatten", ["x"], axis=axis)], {"x": _floats(2, 3, 4, 5)})


def test_transpose() -> None:
    check([node("Transpose", ["x"]), node("Transpose", ["x"], perm=[1, 0, 2])], {"x": _floats(2, 3, 4)})


def test_squeeze_and_unsqueeze() -> None:
    feeds, axes = {"x": _floats(1, 3, 1, 4)}, {"a": _ints(0, -2), "b": _ints(2)}
    check([node("Squeeze", ["x", "a"]), node("Unsqueeze", ["x", "a"]), node("Unsqueeze", ["x", "b"])], feeds, axes)
    check([node("Squeeze", ["x"])], feeds, dynamic=False)


def test_an_empty_list_squeezes_nothing() -> None:
    """As ONNX's reference has it; onnxruntime takes every axis of size 1."""
    x = _floats(1, 3, 1)
    (found,) = dlc.compile(build_model([node("Squeeze", ["x", "a"])], {"x": x}, {"a": np.empty(0, np.int64)}))(x)
    np.testing.assert_array_equal(found, x)


def test_squeeze_and_unsqueeze_of_old_opsets() -> None:
    nodes = [node("Squeeze", ["x"], axes=[0, 2]), node("Unsqueeze", ["x"], axes=[1, 5])]
    check(nodes, {"x": _floats(1, 3, 1, 4)}, opset=11)


def test_expand_and_tile() -> None:
    nodes = [node("Expand", ["x", "a"]), node("Expand", ["x", "b"]), node("Tile", ["x", "r"])]
    check(nodes, {"x": _floats(3, 1)}, {"a": _ints(2, 1, 4), "b": _ints(4), "r": _ints(2, 3)})


def test_expand_and_tile_by_what_run_time_knows() -> None:
    feeds = {"x": _floats(3, 1), "shape": _ints(2, 3, 4), "repeats": _ints(2, 3)}
    check([node("Expand", ["x", "shape"]), node("Tile", ["x", "repeats"])], feeds, dynamic=False)


def test_shape_and_size() -> None:
    nodes = [node("Shape", ["x"]), node("Shape", ["x"], start=1, end=-1), node("Shape", ["x"], start=-2), node("Size", ["x"])]
    check(nodes, {"x": _floats(2, 3, 4, 5)})


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str) -> None:
    check([node("DepthToSpace", ["x"], blocksize=2, mode=mode)], {"x": _floats(2, 8, 3, 5)})


def test_space_to_depth() -> None:
    check([node("SpaceToDepth", ["x"], blocksize=2)], {"x": _floats(2, 3, 4, 6)})


def test_split_of_heads_as_exporters_write_it() -> None:
    """Shape, Gather, Unsqueeze, Concat, Reshape: the batch and the length are read from the tensor itself."""
    constants = {"zero": np.int64(0), "one": np.int64(1), "first": _ints(0), "heads": _ints(3), "rest": _ints(-1)}
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["batch"]),
        node("Gather", ["shape", "one"], ["length"]),
        node("Unsqueeze", ["batch", "first"], ["batches"]),
        node("Unsqueeze", ["length", "first"], ["lengths"]),
        node("Concat", ["batches", "lengths", "heads", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["split"]),
        node("Transpose", ["split"], ["result"], perm=[0, 2, 1, 3]),
    ]
    check(nodes, {"x": _floats(2, 5, 12)}, {name: np.asarray(array) for name, array in constants.items()})


@pytest.mark.slow
@pytest.mark.parametrize("op", _OPS)
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
