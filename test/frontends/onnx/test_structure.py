"""ONNX constants and the ops that do nothing at inference, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_check import build_model, check, check_backend_cases, node

import dlc

_X = np.random.default_rng(8).uniform(-5, 5, (2, 3)).astype(np.float32)


def test_constants_in_every_spelling() -> None:
    values = {
        "value": onnx.numpy_helper.from_array(np.array([1.5], np.float32)),
        "value_float": 2.0,
        "value_floats": [1.0, 2.0, 3.0],
    }
    nodes = [node("Constant", [], [name], **{name: value}) for name, value in values.items()]
    check([*nodes, *(node("Add", ["x", name]) for name in values)], {"x": _X})


def test_integer_constants() -> None:
    values = {"value_int": 1, "value_ints": [1, 0]}
    nodes = [node("Constant", [], [name], **{name: value}) for name, value in values.items()]
    check([*nodes, *(node("Gather", ["x", name]) for name in values)], {"x": _X})


def test_constants_of_strings_stay_on_the_host() -> None:
    nodes = [onnx.helper.make_node("Constant", [], ["s"], value_string="a", name="words")]
    output = onnx.helper.make_tensor_value_info("s", onnx.TensorProto.STRING, [])
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], [output]), ir_version=10)
    compiled = dlc.compile(model)
    assert compiled([])[0].tolist() == "a"
    assert [name for name, _, _ in compiled.host_ops] == ["words"]  # type: ignore[attr-defined]


def test_constant_of_shape_at_run_time() -> None:
    value = onnx.numpy_helper.from_array(np.array([7], np.int64))
    nodes = [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], value=value), node("ConstantOfShape", ["s"])]
    check(nodes, {"x": _X})


def test_identity() -> None:
    check([node("Identity", ["x"], ["y"]), node("Relu", ["y"], ["z"])], {"x": _X})


def test_dropout() -> None:
    check([node("Dropout", ["x"], ["y", "mask"])], {"x": _X})
    check([node("Dropout", ["x"], ["y"], ratio=0.3)], {"x": _X}, opset=10)


@pytest.mark.parametrize(("ratio", "dtype"), [(0.5, np.float32), (0.75, np.float64), (0.1, np.float16), (None, np.float32)])
@pytest.mark.parametrize("is_known", [True, False])
def test_dropout_in_training(ratio: float | None, dtype: type, is_known: bool) -> None:
    """About a share of `ratio` is 0, the rest is scaled, the mask says which, and each call and model drops the same."""
    x = np.random.default_rng(2).uniform(1, 2, (100, 100)).astype(dtype)
    given = {} if ratio is None else {"r": np.array(ratio, np.float32)}
    nodes = [node("Dropout", ["x", "r" if given else "", "t"], ["y", "mask"], seed=7)]
    model = build_model(nodes, {"x": x} | ({} if is_known else given), {"t": np.array(True)} | (given if is_known else {}))
    compiled = dlc.compile(model)
    feeds = {"x": x} | ({} if is_known else given)
    y, mask = compiled(feeds)
    share = 0.5 if ratio is None else ratio
    assert (y.dtype, mask.dtype) == (x.dtype, np.bool_)
    assert abs(mask.mean() - (1 - share)) < 0.03
    np.testing.assert_allclose(y.astype(np.float64), np.where(mask, x / (1 - share), 0), rtol=2e-3 if dtype == np.float16 else 1e-6)
    np.testing.assert_array_equal(compiled(feeds)[1], mask)


def test_dropout_that_drops_nothing_or_everything() -> None:
    nodes = [node("Dropout", ["x", "r", "t"], ["y"])]
    check(nodes, {"x": _X}, {"r": np.array(0.0, np.float32), "t": np.array(True)})
    with pytest.raises(dlc.UnsupportedError, match=r"ratio is 1\.0; give a number from 0 to less than 1"):
        dlc.compile(build_model(nodes, {"x": _X}, {"r": np.array(1.0, np.float32), "t": np.array(True)}))


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Constant", "Identity", "ConstantOfShape"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
