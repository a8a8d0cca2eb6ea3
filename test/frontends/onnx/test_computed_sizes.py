"""ONNX ops whose sizes, counts or axes are values that only run time knows, against onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_check import build_model, check, node

import dlc

_X = np.random.default_rng(17).uniform(-5, 5, (3, 4, 6)).astype(np.float32)
_FAR = np.iinfo(np.int64).max


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _same(nodes: Sequence[onnx.NodeProto], values: Mapping[str, np.ndarray], opset: int = 21, x: np.ndarray = _X) -> None:
    """Compare with onnxruntime; `values` are inputs of the model."""
    check(nodes, {"x": x, **values}, opset=opset, dynamic=False, rtol=1e-4)


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slice_by_steps(step: int) -> None:
    values = {"s": _ints(-_FAR - 1, 1), "e": _ints(3, _FAR), "a": _ints(2, -2), "p": _ints(step, 1)}
    _same([node("Slice", ["x", "s", "e", "a", "p"])], values)


def test_slice_along_axes() -> None:
    values = {"s": _ints(2, -1), "e": _ints(_FAR, -_FAR), "a": _ints(2, 0)}
    _same([node("Slice", ["x", "s", "e", "a"], ["y"]), node("Slice", ["x", "s", "e"], ["z"])], values)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("counts", [(1, 0, 2, 0, 3, 1), (-1, 1, 0, 1, -2, -3), (0, 0, 0, 0, 0, 0)])
def test_pad(mode: str, counts: Sequence[int]) -> None:
    _same([node("Pad", ["x", "p"], mode=mode)], {"p": _ints(*counts)})


def test_pad_along_axes() -> None:
    values = {"p": _ints(1, 2, 3, -1), "v": np.array(7.5, np.float32), "a": _ints(-1, 0)}
    _same([node("Pad", ["x", "p", "v", "a"])], values)


@pytest.mark.parametrize("size", [(3, 4), (5, 9), (1, 6)])
def test_center_crop_pad(size: Sequence[int]) -> None:
    _same([node("CenterCropPad", ["x", "s"], axes=[0, 2])], {"s": _ints(*size)}, opset=18)


@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running(op: str, axis: int) -> None:
    values = {"a": np.array(axis, np.int64)}
    nodes = [node(op, ["x", "a"]), node(op, ["x", "a"], exclusive=1, reverse=1)]
    if op == "CumSum":
        _same(nodes, values)
        return
    model = build_model([nodes[0]], {"x": _X, **values}, opset=26)
    np.testing.assert_allclose(dlc.compile(model)(_X, values["a"])[0], np.cumprod(_X, axis), rtol=1e-4)


@pytest.mark.parametrize("k", [-3, 0, 2, 9])
def test_trilu(k: int) -> None:
    _same([node("Trilu", ["x", "k"]), node("Trilu", ["x", "k"], upper=0)], {"k": np.array(k, np.int64)})


@pytest.mark.parametrize("k", [0, 1, 6])
def test_top_k(k: int) -> None:
    _same([node("TopK", ["x", "k"], ["v", "i"]), node("TopK", ["x", "k"], ["w", "j"], largest=0)], {"k": _ints(k)})


@pytest.mark.parametrize("depth", [1, 5])
def test_one_hot(depth: int) -> None:
    values = {"d": _ints(depth), "v": np.array([2, 5], np.float32)}
    _same([node("OneHot", ["x", "d", "v"], axis=1)], values, x=_ints(0, 3, -1, 4))


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric", "pytorch_half_pixel"])
def test_resize(mode: str, coordinates: str) -> None:
    x = _X[None]
    modes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates}
    _same([node("Resize", ["x", "", "s"], **modes)], {"s": np.array([1, 1, 1.6, 0.7], np.float32)}, x=x)
    _same([node("Resize", ["x", "", "", "n"], **modes)], {"n": _ints(1, 3, 9, 2)}, x=x)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_by_a_policy(policy: str) -> None:
    nodes = [node("Resize", ["x", "", "", "n"], axes=[1, 2], keep_aspect_ratio_policy=policy, mode="linear")]
    _same(nodes, {"n": _ints(9, 8)}, opset=19)


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("size", [(2, 1, 3, 4, 5), (2, 3, 4, 3)])
def test_affine_grid(size: Sequence[int], align_corners: int) -> None:
    axes = len(size) - 2
    theta = np.random.default_rng(3).uniform(-1, 1, (2, axes, axes + 1)).astype(np.float32)
    item = node("AffineGrid", ["x", "s"], align_corners=align_corners)
    _same([item], {"s": _ints(*size)}, x=theta)
    check([item], {"x": theta}, {"s": _ints(*size)}, opset=21, dynamic=False, rtol=1e-4)


def test_old_opsets() -> None:
    x, scales = _X[None], {"s": np.array([1, 1, 2, 3], np.float32)}
    _same([node("Upsample", ["x", "s"], mode="linear")], scales, opset=9, x=x)
    _same([node("Resize", ["x", "s"])], {"s": np.array([1, 1, 2, 0.5], np.float32)}, opset=10, x=x)


@pytest.mark.parametrize(
    ("item", "values", "message"),
    [
        (node("Pad", ["x", "p"], ["y"]), {"p": _ints(0, 0, -4, 0, 0, -3)}, "what is cropped of axis 2 is 7 but x dim 2 is 6"),
        (node("TopK", ["x", "k"], ["y", "z"]), {"k": _ints(7)}, "k is 7 but x dim 2 is 6"),
        (node("TopK", ["x", "k"], ["y", "z"]), {"k": _ints(-1)}, "count is -1"),
        (node("Slice", ["x", "s", "s", "s", "s"], ["y"]), {"s": _ints(0)}, "the step is 0"),
        (node("CumSum", ["x", "a"], ["y"]), {"a": np.array(3, np.int64)}, "the axis is out of range for rank 3"),
        (node("Resize", ["x", "", "", "n"], ["y"]), {"n": _ints(3, -4, 6)}, r"sizes\[1\] is -4"),
        (node("Resize", ["x", "", "n"], ["y"]), {"n": np.array([1, 0, 1], np.float32)}, r"scales\[1\] is not positive"),
        (node("Expand", ["x", "n"], ["y"]), {"n": _ints(-1, 1, 1, 1)}, "-1"),
        (node("ConstantOfShape", ["n"], ["y"]), {"n": _ints(1 << 40, 1 << 40)}, "memory"),
    ],
    ids=lambda value: value.op_type if isinstance(value, onnx.NodeProto) else "",
)
def test_wrong_values_are_an_error_that_names_the_op(item: onnx.NodeProto, values: Mapping[str, np.ndarray], message: str) -> None:
    feeds = {**({"x": _X} if "x" in item.input else {}), **values}
    model = dlc.compile(build_model([item], feeds))
    with pytest.raises(dlc.DLCError, match=message):
        model(*feeds.values())
