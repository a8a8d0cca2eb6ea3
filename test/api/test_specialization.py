"""Models that read inputs as values: right numbers for each value, one compilation for each, and clear words for bad ones."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import dlc
from dlc.variants import Variants, variant_limit

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)


def build(nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, tuple[int, Sequence[Any] | None]], **weights: np.ndarray) -> Any:
    """A model whose outputs are the last node's, of no declared rank."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in nodes[-1].output],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def node(op: str, inputs: Sequence[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, [output], name=f"n_{output}", **attributes)


def reduction(keepdims: int = 0) -> onnx.ModelProto:
    nodes = [node("ReduceSum", ["x", "axes"], "y", keepdims=keepdims), node("Relu", ["y"], "z")]
    return build(nodes, {"x": (FLOAT, ["n", 3, 4]), "axes": (INT, ["k"])})


def product(rows: int | str = "n") -> onnx.ModelProto:
    """Axes are removed from a product with a weight."""
    nodes = [node("MatMul", ["x", "w"], "p"), node("ReduceMean", ["p", "axes"], "y", keepdims=0)]
    return build(nodes, {"x": (FLOAT, [rows, 3, 4]), "axes": (INT, ["k"])}, w=W)


def check(model: onnx.ModelProto, compiled: dlc.CompiledModel, feeds: Mapping[str, np.ndarray]) -> None:
    """The results of a call are onnxruntime's."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for have, want in zip(compiled(dict(feeds)), session.run(None, dict(feeds)), strict=True):
        assert have.shape == want.shape
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


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


def test_wrong_arguments(model: dlc.CompiledModel) -> None:
    with pytest.raises(
        dlc.InvalidInputError, match=r"expected 2 inputs but got 1; the model's inputs are .*axes: i64\[k\] by value"
    ):
        model(X)
    with pytest.raises(dlc.InvalidInputError, match="missing 'axes'; unknown 'axis'"):
        model({"x": X, "axis": np.array([0])})


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


def test_the_least_recently_used_goes_first() -> None:
    compiled = dlc.compile(reduction(), max_specializations=2)
    axes = [np.array([axis]) for axis in range(3)]
    for axis in (0, 1, 0, 2, 0, 1):  # 2 takes the place of 1, then 1 that of 2
        compiled(X, axes[axis])
    counters = compiled.build_report.variants
    assert counters is not None
    assert (counters.built, counters.hits, counters.evicted, counters.kept, counters.limit) == (4, 2, 2, 2, 2)


def test_what_is_evicted_goes() -> None:
    compiled = dlc.compile(reduction(), max_specializations=1)
    assert isinstance(compiled, dlc.SpecializingModel)
    first = weakref.ref(compiled.specialize(X, np.array([0])))
    assert first() is not None
    compiled(X, np.array([1]))
    gc.collect()
    assert first() is None


def test_sizes_of_values_bind_other_inputs() -> None:
    """There are as many axes as rows, in every call."""
    proto = build([node("ReduceSum", ["x", "axes"], "y", keepdims=0)], {"x": (FLOAT, ["k", 3]), "axes": (INT, ["k"])})
    compiled = dlc.compile(proto)
    for _ in range(2):
        assert compiled(X[0, :2, :3], np.array([0, 1]))[0].shape == ()
        with pytest.raises(dlc.InvalidInputError, match="dim 'k' is 2 here but 3 in input 'x'"):
            compiled(X[0, :3, :3], np.array([0, 1]))


def test_other_forms_of_arguments(model: dlc.CompiledModel) -> None:
    """Lists, names, views and other byte orders, in calls that find their variant and in those that make it."""
    axes = np.array([9, 0, 9, 2, 9])[1::2]
    expected = np.maximum(X.sum((0, 2)), 0)
    swapped = axes.astype(axes.dtype.newbyteorder())
    for given in ([X, axes], (X, axes), {"axes": axes, "x": X}, [X, swapped], [np.asfortranarray(X), axes]):
        np.testing.assert_allclose(model(given)[0], expected, rtol=1e-5)


def test_the_bound_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variant_limit(None) == 16
    monkeypatch.setenv("DLC_MAX_SPECIALIZATIONS", "3")
    assert (variant_limit(None), variant_limit(5)) == (3, 5)
    monkeypatch.setenv("DLC_MAX_SPECIALIZATIONS", "none")
    with pytest.raises(dlc.InvalidInputError, match="DLC_MAX_SPECIALIZATIONS is none; give a whole number from 1 on"):
        variant_limit(None)
    with pytest.raises(dlc.InvalidInputError, match="max_specializations is 0"):
        dlc.compile(reduction(), max_specializations=0)


def test_threads_compile_each_value_once() -> None:
    compiled = dlc.compile(reduction())
    expected = {axis: np.maximum(X.sum(axis), 0) for axis in range(3)}

    def call(number: int) -> bool:
        axis = number % 3
        return np.allclose(compiled(X, np.array([axis]))[0], expected[axis], rtol=1e-5)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, range(48)))
    counters = compiled.build_report.variants
    assert counters is not None
    assert counters.built == 3


def test_results_in_the_callers_arrays(model: dlc.CompiledModel) -> None:
    out = np.empty((2, 4), np.float32)
    for outputs in ([out], {"z": out}):
        out[:] = 0
        found = model.run([X, np.array([1])], outputs)
        assert found[0] is out
        np.testing.assert_allclose(out, np.maximum(X.sum(1), 0), rtol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match="output 'z' is f32"):
        model.run([X, np.array([0])], [out])


def test_many_requests(model: dlc.CompiledModel) -> None:
    axes = [0, 0, 1, 1, 0, 2]
    found = model.run_many([(X, np.array([axis])) for axis in axes])
    for result, axis in zip(found, axes, strict=True):
        np.testing.assert_allclose(result[0], np.maximum(X.sum(axis), 0), rtol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match=r"request 2: with input 'axes' as \[9\]"):
        model.run_many([(X, np.array([axis])) for axis in (0, 1, 9)])
    with pytest.raises(dlc.InvalidInputError, match="request 1: input 'x'"):
        model.run_many([(X, np.array([0])), (X[0], np.array([0]))])


def test_other_weights() -> None:
    proto = product()
    compiled = dlc.compile(proto)
    axes = [np.array([axis]) for axis in range(3)]
    first = compiled(X, axes[1])[0]
    other = compiled.with_params({"w": 2 * W})
    built = other.build_report.compiled
    np.testing.assert_allclose(other(X, axes[1])[0], 2 * first, rtol=1e-4)
    assert other.build_report.compiled == built, "the code of a value that was seen is taken over"
    np.testing.assert_allclose(other(X, axes[2])[0], 2 * (X @ W).mean(2), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(compiled(X, axes[1])[0], first)
    with pytest.raises(dlc.InvalidInputError, match="the model has no parameter 'v'"):
        compiled.with_params({"v": W})(X, axes[0])


@pytest.mark.parametrize("params", [{}, {"w": 2 * W}])
def test_variants_share_their_weights(params: Mapping[str, np.ndarray]) -> None:
    compiled = dlc.compile(product())
    compiled(X, np.array([0]))
    other = compiled.with_params(params) if params else compiled
    assert isinstance(other, dlc.SpecializingModel)
    first, second = (other.specialize(X, np.array([axis]))._session._param_arrays for axis in (0, 1))
    assert first and len(first) == len(second)
    assert all(np.shares_memory(one, two) for one, two in zip(first, second, strict=True))


def test_weights_that_values_make_are_not_shared() -> None:
    """A long list is a weight of its own in each variant."""
    nodes = [node("Pad", ["x", "pads"], "p"), node("Tile", ["long", "times"], "t"), node("Add", ["p", "t"], "y")]
    proto = build(nodes, {"x": (FLOAT, [1]), "pads": (INT, [2]), "long": (FLOAT, [24]), "times": (INT, [1])})
    compiled = dlc.compile(proto, values={"times": [2]})
    long = np.arange(24, dtype=np.float32)
    for scale in (1, 2):
        found = compiled({"x": np.ones(1, np.float32), "pads": np.array([0, 47]), "long": scale * long})
        assert found[0][25] == scale


def test_params_of_a_compilation() -> None:
    compiled = dlc.compile(product(), params={"w": 3 * W})
    np.testing.assert_allclose(compiled(X, np.array([0]))[0], 3 * (X @ W).mean(0), rtol=1e-4, atol=1e-5)


def test_donated_inputs() -> None:
    compiled = dlc.compile(reduction(keepdims=1), donate=["x"])
    assert [spec.donated for spec in compiled.inputs] == [True, False]
    given = X.copy()
    np.testing.assert_allclose(compiled(given, np.array([0]))[0], np.maximum(X.sum(0, keepdims=True), 0), rtol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match="input 'x' is donated but read-only"):
        given.flags.writeable = False
        compiled(given, np.array([0]))
    with pytest.raises(dlc.InvalidInputError, match="donate: input 'axes' is read as a value"):
        dlc.compile(reduction(), donate=["axes"])
    with pytest.raises(dlc.InvalidInputError, match="donate: the model has no input 'y'"):
        dlc.compile(reduction(), donate=["y"])


def test_limits_hold_in_every_variant() -> None:
    compiled = dlc.compile(
        build([node("Expand", ["x", "shape"], "y")], {"x": (FLOAT, [1]), "shape": (INT, ["r"])}), memory_limit=4096
    )
    assert compiled(np.ones(1, np.float32), np.array([4, 8]))[0].shape == (4, 8)
    with pytest.raises(dlc.OutOfMemoryError):
        compiled(np.ones(1, np.float32), np.array([64, 64]))
    assert compiled(np.ones(1, np.float32), np.array([2]))[0].shape == (2,)


def test_each_compilation_has_its_own_time() -> None:
    compiled = dlc.compile(reduction(), timeout=1e-6)
    with pytest.raises(dlc.CompileTimeoutError, match="not compiled within 1e-06 s"):
        compiled(X, np.array([0]))
    with pytest.raises(dlc.InvalidInputError, match="timeout is 0"):
        dlc.compile(reduction(), timeout=0)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"target": "gpu:sm_90"}, dlc.TargetError, "models cannot run on 'gpu:sm_90' here"),
        ({"target": "none"}, dlc.TargetError, "unknown target 'none'"),
        ({"winograd": 3}, dlc.InvalidInputError, "winograd must be one of"),
        ({"precision": "f8"}, dlc.InvalidInputError, "precision must be one of"),
        ({"donate": "x"}, dlc.InvalidInputError, "donate takes a list of names"),
        ({"memory_limit": "lots"}, dlc.InvalidInputError, "memory_limit is 'lots'"),
    ],
)
def test_wrong_options_are_refused_before_the_first_call(
    options: dict[str, Any], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DLC_CUDA_LIBRARY", "libnothing.so")
    with pytest.raises(error, match=message):
        dlc.compile(reduction(), **options)


def test_options_hold_in_variants() -> None:
    compiled = dlc.compile(product(rows=2), precision="bf16", verify_schedules=True, num_threads=1)
    assert isinstance(compiled, dlc.SpecializingModel)
    assert compiled.verdicts == ()
    variant = compiled.specialize(X, np.array([1]))
    assert (variant.options.num_threads, compiled.options.num_threads) == (1, 1)
    assert 'dl.precision = "bf16"' in str(variant._source.module)
    assert compiled.verdicts == variant.verdicts != ()


def test_variants_are_found_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    proto = reduction()
    dlc.compile(proto)(X, np.array([0, 1]))
    again = dlc.compile(proto)
    again(X, np.array([0, 1]))
    assert again.build_report.whole
    again(X, np.array([2]))
    assert not again.build_report.whole


def test_the_file_may_go(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    onnx.save(product(), file)
    compiled = dlc.compile(file)
    file.unlink()
    np.testing.assert_allclose(compiled(X, np.array([0]))[0], (X @ W).mean(0), rtol=1e-4, atol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match=r"with input 'axes' as \[4\]"):
        compiled(X, np.array([4]))


def test_specialize_gives_the_variant(model: dlc.CompiledModel, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(model, dlc.SpecializingModel)
    variant = model.specialize(X, np.array([1]))
    assert [spec.name for spec in variant.inputs] == ["x"]
    assert "axes = array<i64: 1>" in variant.print_ir()
    with pytest.raises(dlc.InvalidInputError, match=r"other code for each value of 'axes'; print that of `specialize"):
        model.print_ir()


class _Slow:
    """A build that waits at each step until it may go on."""

    def __init__(self) -> None:
        self.started, self.may_end = threading.Event(), threading.Event()

    def __call__(self, progress: Callable[[str], None]) -> Any:
        self.started.set()
        for step in range(200):
            progress(f"step {step}")
            if self.may_end.wait(0.05):
                break
        return dlc.compile(reduction(), values={"axes": [0]})


def test_cancel_ends_a_compilation() -> None:
    variants, slow = Variants(2), _Slow()
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(variants.find, "key", slow) for _ in range(2)]
        slow.started.wait(10)
        time.sleep(0.1)
        variants.cancel()
        for call in calls:
            with pytest.raises(dlc.CancelledError, match="cancelled while its code was compiled"):
                call.result(20)
    slow.may_end.set()
    assert variants.find("key", slow)(X)[0].shape == (3, 4), "a call that begins later is not touched"


def test_an_interrupt_leaves_no_one_waiting() -> None:
    variants = Variants(2)

    def interrupted(progress: Callable[[str], None]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        variants.find("key", interrupted)
    assert variants.kept() == []
    assert variants.find("key", lambda progress: dlc.compile(reduction(), values={"axes": [0]}))(X)[0].shape == (3, 4)
