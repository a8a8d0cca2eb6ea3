"""Values that a call brings and that have no meaning are errors that name the node, with static and with dynamic sizes."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import dlc
from dlc.dialects import dl

_FLOAT, _INT64, _INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
_SHAPES = {"static": ([7, 5], [3, 5], [3, 1]), "dynamic": (["a", "b"], ["c", "d"], ["c", 1])}


def _compiled(node: onnx.NodeProto, *inputs: tuple[str, int, list[int | str]], kind: int = _FLOAT) -> dlc.CompiledModel:
    values = [helper.make_tensor_value_info(name, element, shape) for name, element, shape in inputs]
    output = helper.make_tensor_value_info("y", kind, None)
    graph = helper.make_graph([node], "g", values, [output])
    return dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))


@pytest.mark.parametrize("sizes", _SHAPES)
@pytest.mark.parametrize("element", [_INT64, _INT32])
@pytest.mark.parametrize("op", ["Gather", "GatherElements", "ScatterElements"])
def test_indices_out_of_range(op: str, element: int, sizes: str) -> None:
    x_shape, indices_shape, _ = _SHAPES[sizes]
    inputs = [("x", _FLOAT, x_shape), ("i", element, indices_shape)]
    inputs += [("u", _FLOAT, indices_shape)] if op == "ScatterElements" else []
    model = _compiled(helper.make_node(op, [name for name, _, _ in inputs], ["y"], name="taken"), *inputs)  # type: ignore[arg-type]
    arrays = [np.ones((7, 5), np.float32), np.zeros((3, 5), helper.tensor_dtype_to_np_dtype(element)), np.ones((3, 5), np.float32)]
    for index in (6, -7):
        arrays[1].flat[4] = index
        model(*arrays[: len(inputs)])
    for index in (7, -8, 2**31 - 1, -(2**31)):
        arrays[1].flat[4] = index
        with pytest.raises(dlc.InvalidInputError, match=rf"at node 'taken': .* is {index}( but |$)"):
            model(*arrays[: len(inputs)])


@pytest.mark.parametrize("sizes", _SHAPES)
@pytest.mark.parametrize("op", ["GatherND", "ScatterND"])
def test_index_tuples_out_of_range(op: str, sizes: str) -> None:
    x_shape, _, tuples_shape = _SHAPES[sizes]
    inputs = [("x", _FLOAT, x_shape), ("i", _INT64, tuples_shape)]
    inputs += [("u", _FLOAT, [tuples_shape[0], x_shape[1]])] if op == "ScatterND" else []
    model = _compiled(helper.make_node(op, [name for name, _, _ in inputs], ["y"], name="taken"), *inputs)  # type: ignore[arg-type]
    arrays = [np.ones((7, 5), np.float32), np.zeros((3, 1), np.int64), np.ones((3, 5), np.float32)]
    model(*arrays[: len(inputs)])
    for index in (7, -8):
        arrays[1].flat[1] = index
        with pytest.raises(dlc.InvalidInputError, match=rf"at node 'taken': .* is {index}( but |$)"):
            model(*arrays[: len(inputs)])


@pytest.mark.parametrize("element", [_INT64, _INT32, TensorProto.INT8, TensorProto.UINT8])
@pytest.mark.parametrize("op", ["Div", "Mod"])
@pytest.mark.parametrize("shape", [[2, 3], ["n", "m"]], ids=["static", "dynamic"])
def test_division_by_zero(op: str, element: int, shape: list[int | str]) -> None:
    node = helper.make_node(op, ["x", "d"], ["y"], name="part")
    model = _compiled(node, ("x", element, shape), ("d", element, shape), kind=element)
    dtype = helper.tensor_dtype_to_np_dtype(element)
    x, divisor = np.full((2, 3), 7, dtype), np.full((2, 3), 2, dtype)
    assert np.array_equal(model(x, divisor)[0], x // divisor if op == "Div" else x % divisor)
    divisor[1, 2] = 0
    with pytest.raises(dlc.InvalidInputError, match=r"at node 'part': integer division by zero"):
        model(x, divisor)


def test_smallest_integer_by_minus_one_wraps() -> None:
    node = helper.make_node("Div", ["x", "d"], ["y"], name="part")
    model = _compiled(node, ("x", _INT64, [1]), ("d", _INT64, [1]), kind=_INT64)
    least = np.array([np.iinfo(np.int64).min])
    assert np.array_equal(model(least, np.array([-1]))[0], least)


def test_no_indices_need_no_range() -> None:
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    model = _compiled(node, ("x", _FLOAT, ["n", 5]), ("i", _INT64, ["m"]))
    assert model(np.ones((0, 5), np.float32), np.zeros(0, np.int64))[0].shape == (0, 5)


@pytest.mark.parametrize("kind", [_FLOAT, _INT64, _INT32])
def test_range_with_step_0(kind: int) -> None:
    node = helper.make_node("Range", ["start", "limit", "delta"], ["y"], name="count")
    model = _compiled(node, ("start", kind, []), ("limit", kind, []), ("delta", kind, []), kind=kind)
    start, limit, step = (np.asarray(value, helper.tensor_dtype_to_np_dtype(kind)) for value in (1, 5, 2))
    assert model(start, limit, step)[0].tolist() == [1, 3]
    with pytest.raises(dlc.InvalidInputError, match="at node 'count': the step is 0"):
        model(start, limit, np.zeros_like(step))


@pytest.mark.parametrize("size", [7, "n"])
def test_split_sizes(size: int | str) -> None:
    node = helper.make_node("Split", ["x", "split"], ["y", "z", "w"], name="parts", axis=-1)
    values = [helper.make_tensor_value_info("x", _FLOAT, [2, size]), helper.make_tensor_value_info("split", _INT64, [3])]
    outputs = [helper.make_tensor_value_info(name, _FLOAT, None) for name in "yzw"]
    graph = helper.make_graph([node], "g", values, outputs)
    model = dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    x = np.arange(14, dtype=np.float32).reshape(2, 7)
    for have, want in zip(model(x, np.array([2, 0, 5])), np.split(x, [2, 2], axis=1), strict=True):
        assert np.array_equal(have, want)
    for sizes in ([2, 2, 2], [2, 3, 3], [9, -1, -1], [8, 0, -1], [0, 0, 0], [2**62, 2**62, 7 - 2**63]):
        with pytest.raises(dlc.InvalidInputError, match="at node 'parts': split sizes are negative, or do not add up"):
            model(x, np.array(sizes))


def test_as_many_split_sizes_as_outputs() -> None:
    node = helper.make_node("Split", ["x", "split"], ["y"], name="parts")
    with pytest.raises(dlc.UnsupportedError, match=r"node 'parts' .*: 3 split sizes do not fit 1 outputs"):
        _compiled(node, ("x", _FLOAT, [7]), ("split", _INT64, [3]))


def test_reference_implementations_refuse_the_same() -> None:
    x, wrong = np.ones((4, 2), np.float32), np.array([4])
    with pytest.raises(IndexError, match="index 4 is out of range for 4 elements"):
        dl.ops()["gather"].reference(x, wrong, axis=0)
    for name, attributes in (("div", {}), ("mod", {"fmod": False})):
        with pytest.raises(ZeroDivisionError, match=re.escape("integer division by zero")):
            dl.ops()[name].reference(np.array([1]), np.array([0]), **attributes)
    with pytest.raises(ZeroDivisionError, match="the step is 0"):
        dl.ops()["range"].reference(np.array(1), np.array(5), np.array(0))
    with pytest.raises(ValueError, match="no such size"):
        dl.ops()["assert"].reference(x, np.array([True, False]), message="no such size")


@pytest.mark.parametrize("count", [1, 3])
def test_bounds_of_a_slice_are_as_many_as_its_axes(count: int) -> None:
    graph = helper.make_graph(
        [helper.make_node("Slice", ["x", "starts", "ends", "axes"], ["y"], name="cut")],
        "g",
        [helper.make_tensor_value_info("x", _FLOAT, ["a", "b"]), helper.make_tensor_value_info("ends", _INT64, ["n"])],
        [helper.make_tensor_value_info("y", _FLOAT, None)],
        [onnx.numpy_helper.from_array(np.array([0, axis]), name) for name, axis in (("starts", 0), ("axes", 1))],
    )
    model = dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    x = np.ones((4, 5), np.float32)
    assert model(x, np.array([2, 3]))[0].shape == (2, 3)
    with pytest.raises(dlc.InvalidInputError, match=f"at node 'cut': bounds dim 0 is {count} but the number of bounds .* is 2"):
        model(x, np.full(count, 2))
