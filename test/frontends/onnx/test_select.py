"""ONNX ops whose data decide how much they give, against onnxruntime, alone and with what comes behind them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_GENERATOR = np.random.default_rng(23)
_X = _GENERATOR.integers(-2, 3, (4, 5, 6)).astype(np.float32)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_what_is_gathered_where_a_mask_holds(share: float, dynamic: bool) -> None:
    nodes = [
        node("Cast", ["m"], ["mask"], to=onnx.TensorProto.BOOL),
        node("NonZero", ["mask"], ["places"]),
        node("Transpose", ["places"], ["tuples"], perm=[1, 0]),
        node("GatherND", ["x", "tuples"], ["found"]),
        node("Exp", ["found"], ["y"]),
        node("Shape", ["found"], ["shape"]),
        node("ConstantOfShape", ["shape"], ["zeros"]),
        node("Add", ["found", "zeros"], ["z"]),
        node("ReduceSum", ["found"], ["total"], keepdims=0),
    ]
    mask = (_GENERATOR.uniform(0, 1, _X.shape) < share).astype(np.int32)
    check(nodes, {"m": mask, "x": _X}, dynamic=dynamic)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress(axis: int | None) -> None:
    given = {} if axis is None else {"axis": axis}
    for size in (3, 4):
        mask = _GENERATOR.uniform(0, 1, size) < 0.6
        check([node("Compress", ["x", "c"], ["y"], **given), node("Abs", ["y"])], {"x": _X, "c": mask}, dynamic=False)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("is_sorted", [0, 1])
def test_unique(axis: int | None, is_sorted: int) -> None:
    given = {"sorted": is_sorted} | ({} if axis is None else {"axis": axis})
    x = _GENERATOR.integers(0, 2, (40, 2, 3)).astype(np.int64)
    nodes = [node("Unique", ["x"], ["y", "i", "j", "c"], **given), node("Unique", ["x"], ["z"], **given), node("Neg", ["z"], ["n"])]
    check(nodes, {"x": x}, dynamic=False)


@pytest.mark.parametrize("center_point_box", [0, 1])
def test_detector(center_point_box: int) -> None:
    """The boxes, scores and classes of what is left, as exported detectors gather them."""
    boxes = _GENERATOR.uniform(1, 9, (1, 60, 4)).astype(np.float32)
    scores = _GENERATOR.uniform(0, 1, (1, 3, 60)).astype(np.float32)
    nodes = [
        node("NonMaxSuppression", ["boxes", "scores", "most", "limit", "least"], ["s"], center_point_box=center_point_box),
        node("Gather", ["s", "one"], ["kinds"], axis=1),
        node("Gather", ["s", "two"], ["at"], axis=1),
        node("Squeeze", ["boxes", "first"], ["all"]),
        node("Gather", ["all", "at"], ["found"], axis=0),
        node("Transpose", ["scores"], ["by_box"], perm=[0, 2, 1]),
        node("Gather", ["s", "zero_two"], ["batch_and_box"], axis=1),
        node("Unsqueeze", ["kinds", "second"], ["kinds_2"]),
        node("Concat", ["batch_and_box", "kinds_2"], ["tuples"], axis=1),
        node("GatherND", ["by_box", "tuples"], ["found_scores"]),
        node("TopK", ["found_scores", "five"], ["best", "order"]),
        node("Gather", ["found", "order"], ["best_boxes"], axis=0),
    ]
    constants = {"most": _ints(7), "limit": np.array([0.4], np.float32), "least": np.array([0.2], np.float32)}
    constants |= {"one": np.array(1, np.int64), "two": np.array(2, np.int64), "first": _ints(0), "second": _ints(1)}
    constants |= {"zero_two": _ints(0, 2), "five": _ints(5)}
    check(nodes, {"boxes": boxes, "scores": scores}, constants, dynamic=False)


def test_boxes_without_the_optional_inputs() -> None:
    boxes, scores = (_GENERATOR.uniform(0, 1, shape).astype(np.float32) for shape in ((2, 9, 4), (2, 1, 9)))
    check([node("NonMaxSuppression", ["boxes", "scores"])], {"boxes": boxes, "scores": scores}, dynamic=False)
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "most"])]
    check(nodes, {"boxes": boxes, "scores": scores, "most": _ints(4)}, dynamic=False)


def test_wrong_values_are_an_error_that_names_the_op() -> None:
    boxes, scores = np.zeros((1, 3, 4), np.float32), np.zeros((1, 1, 3), np.float32)
    feeds = {"boxes": boxes, "scores": scores, "most": _ints(-1), "limit": np.array([0.5], np.float32)}
    model = dlc.compile(build_model([node("NonMaxSuppression", list(feeds), ["y"])], feeds))
    with pytest.raises(dlc.DLCError, match=r"'dl.non_max_suppression' at node '.*': .*max_output is -1"):
        model(*feeds.values())
    with pytest.raises(dlc.DLCError, match="iou_threshold is not between 0 and 1"):
        model(boxes, scores, _ints(1), np.array([1.5], np.float32))
    mask = np.zeros(5, bool)
    model = dlc.compile(build_model([node("Compress", ["x", "c"], ["y"], axis=0)], {"x": _X, "c": mask}, dynamic=True))
    with pytest.raises(dlc.DLCError, match="condition dim 0 is 5 but x dim 0 is 4"):
        model(_X, mask)


@pytest.mark.slow
@pytest.mark.parametrize(("op", "count"), [("NonZero", 1), ("Compress", 5), ("Unique", 7), ("NonMaxSuppression", 10)])
def test_backend_cases(op: str, count: int) -> None:
    assert check_backend_cases(op) == count
