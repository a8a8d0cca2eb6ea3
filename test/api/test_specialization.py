"""Models that read inputs as values: right numbers for each value, and clear words for bad ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from specialized_models import FLOAT, INT, X, build, check, node, reduction

import dlc


@pytest.fixture(scope="module")
def model() -> dlc.CompiledModel:
    return dlc.compile(reduction())


def test_values_in_turn() -> None:
    proto = reduction()
    compiled = dlc.compile(proto)
    for axes in ([0], [1, 2], [0], [-1], [0, 1, 2], [], [1, 2]):
        check(proto, compiled, {"x": X, "axes": np.array(axes, np.int64)})
    counters = compiled.build_report.variants
    assert counters is not None
    assert (counters.built, counters.hits, counters.kept, counters.evicted) == (5, 2, 5, 0)


def test_the_signature_says_what_is_read(model: dlc.CompiledModel) -> None:
    assert isinstance(model, dlc.SpecializingModel)
    assert [(spec.name, spec.by_value) for spec in model.inputs] == [("x", False), ("axes", True)]
    assert str(model.inputs[1]) == "axes: i64[k] by value"
    assert str(model.outputs[0]) == "z: f32[*]"
    assert "axes: i64[k] by value" in repr(model)


def test_dynamic_dims_stay_dynamic(model: dlc.CompiledModel) -> None:
    before = model.build_report.variants
    for size in (1, 2, 7):
        x = np.ones((size, 3, 4), np.float32)
        np.testing.assert_array_equal(model(x, np.array([1]))[0], np.full((size, 4), 3, np.float32))
    after = model.build_report.variants
    assert before is not None and after is not None
    assert after.built - before.built <= 1


@pytest.mark.parametrize(
    "name, values",
    [
        ("test_reduce_sum_do_not_keepdims_random", ([1], [0], [0, 2])),
        ("test_reduce_l1_keep_dims_random", ([2], [1], [0, 1])),
        ("test_unsqueeze_two_axes", ([1, 4], [0, 1], [-1, 0])),
        ("test_cumsum_2d_axis_1", (1, 0, -1)),
        ("test_reduce_max_negative_axes_keepdims_random", ([-2], [0], [1])),
    ],
)
def test_backend_models_with_other_values(name: str, values: Sequence[Any]) -> None:
    """The suite's model with inputs of any shape, against onnxruntime."""
    from onnx.backend.test.loader import load_model_tests

    case = next(case for case in load_model_tests(kind="node") if case.name == name)
    proto = onnx.ModelProto()
    proto.CopyFrom(case.model)
    data = [
        onnx.numpy_helper.to_array(item) if isinstance(item, TensorProto) else np.asarray(item) for item in case.data_sets[0][0]
    ]
    for entry in proto.graph.output:
        entry.type.tensor_type.ClearField("shape")
    for dim in proto.graph.input[1].type.tensor_type.shape.dim:
        dim.dim_param = "k"
    compiled = dlc.compile(proto)
    for value in values:
        feeds = dict(zip([entry.name for entry in proto.graph.input], [data[0], np.array(value, data[1].dtype)], strict=True))
        check(proto, compiled, feeds)


def test_values_through_other_nodes() -> None:
    """Cast, arithmetic, Concat and Reshape of inputs and constants are evaluated."""
    nodes = [
        node("Cast", ["first"], "a", to=INT),
        node("Add", ["second", "one"], "b"),
        node("Concat", ["a", "b"], "ab", axis=0),
        node("Reshape", ["ab", "two"], "axes"),
        node("ReduceSum", ["x", "axes"], "y", keepdims=0),
    ]
    inputs = {"x": (FLOAT, [2, 3, 4]), "first": (TensorProto.INT32, [1]), "second": (INT, [1])}
    proto = build(nodes, inputs, one=np.array([1]), two=np.array([2]))
    compiled = dlc.compile(proto)
    assert [spec.name for spec in compiled.inputs if spec.by_value] == ["first", "second"]
    for first, second in ((0, 0), (0, 1), (1, 1)):
        check(proto, compiled, {"x": X, "first": np.array([first], np.int32), "second": np.array([second])})


def test_all_values_are_found_before_the_first_call() -> None:
    """The second node's input has no known rank before the first one's axes are known."""
    nodes = [node("Squeeze", ["x", "a"], "y"), node("ReduceSum", ["y", "b"], "z", keepdims=0), node("Unsqueeze", ["z", "c"], "o")]
    inputs = {"x": (FLOAT, [2, 1, 3, 4]), **{name: (INT, [1]) for name in "abc"}}
    proto = build(nodes, inputs)
    compiled = dlc.compile(proto)
    assert [spec.name for spec in compiled.inputs if spec.by_value] == ["a", "b", "c"]
    check(proto, compiled, {"x": X.reshape(2, 1, 3, 4), "a": np.array([1]), "b": np.array([2]), "c": np.array([0])})


def test_values_that_only_a_call_finds() -> None:
    """No trial fits this reshape, so that the axes behind it are found by the first call."""
    nodes = [node("Reshape", ["x", "shape"], "y"), node("ReduceSum", ["y", "axes"], "z", keepdims=0)]
    proto = build(nodes, {"x": (FLOAT, [2, 3, 4]), "shape": (INT, ["r"]), "axes": (INT, [1])})
    compiled = dlc.compile(proto)
    for shape in ([4, 6], [2, 2, 6]):
        check(proto, compiled, {"x": X, "shape": np.array(shape), "axes": np.array([1])})
    assert [spec.name for spec in compiled.inputs if spec.by_value] == ["shape", "axes"]


def test_dims_are_read_where_values_depend_on_them() -> None:
    """Axes are counted from the rank, and the repeats of the last axis from its size."""
    nodes = [
        node("Shape", ["x"], "dims"),
        node("Gather", ["dims", "zero"], "first"),
        node("Sub", ["first", "axis"], "at"),
        node("ReduceSum", ["x", "at"], "y", keepdims=0),
    ]
    proto = build(nodes, {"x": (FLOAT, ["n", 3]), "axis": (INT, [1])}, zero=np.array([0]))
    compiled = dlc.compile(proto)
    assert [(spec.name, spec.by_value, spec.by_shape) for spec in compiled.inputs] == [("x", False, True), ("axis", True, False)]
    for size, axis in ((2, 2), (3, 2), (2, 1)):
        check(proto, compiled, {"x": np.ones((size, 3), np.float32), "axis": np.array([axis])})
    assert compiled.build_report.variants is not None
    assert compiled.build_report.variants.built == 3


def test_values_at_compilation() -> None:
    proto = reduction()
    compiled = dlc.compile(proto, values={"axes": [0, 2]})
    assert not isinstance(compiled, dlc.SpecializingModel)
    assert [spec.name for spec in compiled.inputs] == ["x"]
    np.testing.assert_allclose(compiled(X)[0], np.maximum(X.sum((0, 2)), 0), rtol=1e-5)
    assert "axes = array<i64: 0, 2>" in str(dlc.import_onnx(proto, values={"axes": np.array([0, 2])}).module)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"axs": 0}, r"values: the model has no input 'axs'; did you mean 'axes'\?"),
        ({"axes": 0.5}, r"input 'axes' takes numbers of int64, but 0.5 would lose a value"),
        ({"axes": "zero"}, r"input 'axes' takes numbers of int64, not 'zero'"),
        ({"axes": [[0]]}, None),
        ({"axes": [[0, 1]]}, r"input 'axes' takes an array of shape \[\?\] but got \[1, 2\]"),
        ({"axes": [[0], [1, 2]]}, r"input 'axes' takes numbers of int64"),
        ([0], r"values is \[0\]; give a dictionary by name"),
    ],
)
def test_values_that_do_not_fit(values: Any, message: str | None) -> None:
    if message is None:
        assert dlc.import_onnx(reduction(), values=values).values["axes"].tolist() == [0]
        return
    with pytest.raises(dlc.InvalidInputError, match=message):
        dlc.compile(reduction(), values=values)


@pytest.mark.parametrize(
    "axes, message",
    [
        (np.array([3]), r"with input 'axes' as \[3\]: node 'n_y' \(ReduceSum\): c1: axis 3 is out of range for rank 3"),
        (np.array([0, 0]), r"with input 'axes' as \[0, 0\]: node 'n_y' \(ReduceSum\)"),
        (np.array([0], np.int32), r"input 'axes' expects i64\[k\] but got i32\[1\]"),
        ([0], r"input 'axes' expects an array i64\[k\] but got list"),
    ],
)
def test_bad_values_name_node_and_input(model: dlc.CompiledModel, axes: Any, message: str) -> None:
    with pytest.raises(dlc.InvalidInputError, match=message):
        model(X, axes)
    np.testing.assert_allclose(model(X, np.array([0]))[0], np.maximum(X.sum(0), 0), rtol=1e-5)


def test_values_that_make_huge_constants() -> None:
    proto = build([node("AffineGrid", ["theta", "size"], "y")], {"theta": (FLOAT, [1, 2, 3]), "size": (INT, [4])})
    compiled = dlc.compile(proto)
    theta = np.ones((1, 2, 3), np.float32)
    with pytest.raises(dlc.OutOfMemoryError, match=r"node 'n_y'"):
        compiled(theta, np.array([1, 1, 1 << 40, 2]))
    assert compiled(theta, np.array([1, 1, 3, 2]))[0].shape == (1, 3, 2, 2)


def _refusals() -> dict[str, tuple[onnx.ModelProto, str]]:
    total = node("ReduceSum", ["x", "axes"], "y")
    noise = [node("RandomUniform", [], "r", shape=[1]), node("Cast", ["r"], "axes", to=INT), total]
    return {
        "random": (build(noise, {"x": (FLOAT, [2, 3])}), r"node 'n_r' \(RandomUniform\) computes it at run time"),
        "large": (
            build([total], {"x": (FLOAT, [2]), "axes": (INT, [65])}),
            r"depends on the elements of input 'axes', which is tensor<65xi64>, and code is specialised on inputs of at most 64",
        ),
        "data": (
            build(
                [node("Cast", ["x"], "i", to=INT), node("Reshape", ["i", "all"], "axes"), total],
                {"x": (FLOAT, ["n", "m"])},
                all=np.array([-1]),
            ),
            r"depends on the elements of input 'x'",
        ),
        "op": (
            build(
                [node("ReduceSum", ["x", "axes"], "y"), node("NoSuch", ["y"], "z", domain="own")],
                {"x": (FLOAT, [2]), "axes": (INT, [1])},
            ),
            r"node 'n_z' \(own.NoSuch\): the op is not supported",
        ),
    }


@pytest.mark.parametrize("name", ["random", "large", "data", "op"])
def test_what_no_value_helps_is_refused_when_compiled(name: str) -> None:
    proto, message = _refusals()[name]
    if name == "op":
        proto.opset_import.add(domain="own", version=1)
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(proto)


def test_declarations_are_checked() -> None:
    """Element types in every variant, and all that does not depend on values when the model is compiled."""
    proto = reduction()
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    with pytest.raises(
        dlc.InvalidInputError, match=r"with input 'axes' as \[0\]: g: error: .*makes 'z' as .*xf32> but .* tensor<\.\.\.xf64>"
    ):
        dlc.compile(proto)(X, np.array([0]))
    proto = build([node("Relu", ["x"], "r"), node("ReduceSum", ["r", "axes"], "y")], {"x": (FLOAT, [2, 3]), "axes": (INT, [1])})
    proto.graph.value_info.append(helper.make_tensor_value_info("r", FLOAT, [2, 5]))
    with pytest.raises(dlc.ParseError, match="makes 'r' as tensor<2x3xf32> but the model declares tensor<2x5xf32>"):
        dlc.compile(proto)


def test_sizes_of_values_bind_other_inputs() -> None:
    """There are as many axes as rows, in every call."""
    proto = build([node("ReduceSum", ["x", "axes"], "y", keepdims=0)], {"x": (FLOAT, ["k", 3]), "axes": (INT, ["k"])})
    compiled = dlc.compile(proto)
    for _ in range(2):
        assert compiled(X[0, :2, :3], np.array([0, 1]))[0].shape == ()
        with pytest.raises(dlc.InvalidInputError, match="dim 'k' is 2 here but 3 in input 'x'"):
            compiled(X[0, :3, :3], np.array([0, 1]))
