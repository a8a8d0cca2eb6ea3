"""Versions of a model for sizes of dims: right numbers, facts that are checked, and clear words for sizes that are none."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import dlc
from bench.networks import bert, gpt2_decode, mlp, resnet18
from dlc.compiler import CompiledModel
from dlc.versions.building import MOST_VERSIONS
from dlc.versions.reading import SizeReading
from dlc.versions.versioned_model import VersionedModel

WIDTHS = (8, 16, 4)
TEXT = """func.func @main_graph(%x: tensor<?x?xf32> {dl.dims = ["batch", "seq"], dl.name = "x"}) -> tensor<?x?xf32> {
  %0 = "dl.softmax"(%x) {axis = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""


def rows(count: int, width: int = WIDTHS[0]) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, width)).astype(np.float32)


def model() -> onnx.ModelProto:
    return mlp.build(widths=WIDTHS, dynamic_batch=True)


def versioned(found: CompiledModel) -> VersionedModel:
    assert isinstance(found, VersionedModel)
    return found


@pytest.fixture(scope="module")
def plain() -> CompiledModel:
    return dlc.compile(model())


@pytest.fixture(scope="module")
def lists() -> VersionedModel:
    return versioned(dlc.compile(model(), shapes={"batch": [2, 4, range(1, 9)]}))


def test_one_size_is_a_static_model() -> None:
    found = dlc.compile(model(), shapes={"batch": 4})
    assert not isinstance(found, VersionedModel)
    assert [spec.shape for spec in found.inputs] == [(4, 8)]


def test_a_dim_that_several_inputs_have() -> None:
    found = dlc.import_onnx(bert.build(layers=1, hidden=32, heads=2, vocab=64, dynamic_batch=True), shapes={"batch": 3})
    kinds = found.module.body.operations[0].attributes["function_type"]
    assert str(kinds).count("tensor<3x128xi64>") == 3


def test_names_that_are_given_to_inputs_count() -> None:
    found = dlc.import_onnx(model(), shapes={"x": ["rows", 8], "rows": range(8, 65, 8)})
    assert "dl.bounds = {rows = array<i64: 8, 64, 8>}" in str(found.module)


def test_lists_give_versions_and_one_for_all(plain: CompiledModel, lists: VersionedModel) -> None:
    assert lists.inputs == plain.inputs and lists.outputs == plain.outputs
    before = lists.build_report.versions
    for count in (1, 2, 3, 4, 2):
        np.testing.assert_allclose(lists(rows(count))[0], plain(rows(count))[0], rtol=1e-5)
    after = lists.build_report.versions
    assert before is not None and after is not None
    assert (after.general - before.general, after.declared - before.declared, after.versions) == (2, 3, 2)
    assert [spec.shape for spec in lists.version(rows(4)).inputs] == [(4, 8)]


@pytest.mark.parametrize("form", ["array", "list", "tuple", "dict", "fortran", "protocol"])
def test_forms_of_arguments_find_their_version(form: str, plain: CompiledModel, lists: VersionedModel) -> None:
    class Exporter:
        def __init__(self, array: np.ndarray) -> None:
            self.array, self.shape = array, array.shape

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return self.array

    x = rows(4)
    given = {"array": x, "list": [x], "tuple": (x,), "dict": {"x": x}, "fortran": np.asfortranarray(x), "protocol": Exporter(x)}
    assert lists.version(given[form]) is not lists._general
    np.testing.assert_allclose(lists(given[form])[0], plain(x)[0], rtol=1e-5)


def test_products_of_lists() -> None:
    found = versioned(dlc.compile(TEXT, shapes={"batch": [1, 2], "seq": [8, 16]}))
    shapes = {found.version(rows(batch, seq)).inputs[0].shape for batch in (1, 2, 3) for seq in (8, 16)}
    assert shapes == {(1, 8), (1, 16), (2, 8), (2, 16), ("batch", "seq")}


def test_a_list_beside_a_range() -> None:
    found = versioned(dlc.compile(TEXT, shapes={"batch": range(1, 4), "seq": [8]}))
    assert found.version(rows(2, 8)).inputs[0].shape == ("batch", 8)
    np.testing.assert_allclose(found(rows(2, 8))[0].sum(1), 1, rtol=1e-5)
    for width in (8, 9):  # of the version, and of that for all sizes
        with pytest.raises(dlc.InvalidInputError, match=r"input 'x': dim 0, 'batch', is 4 but its most is 3"):
            found(rows(4, width))


@pytest.mark.parametrize(
    "count, message",
    [
        (0, "input 'x': dim 0, 'batch', is 0 but its least is 8"),
        (12, "input 'x': dim 0, 'batch', is 12 but must be a multiple of 8, as 8 is"),
        (72, "input 'x': dim 0, 'batch', is 72 but its most is 64"),
    ],
)
def test_sizes_outside_of_a_range_are_one_error(count: int, message: str) -> None:
    found = dlc.compile(model(), shapes={"batch": range(8, 65, 8)})
    assert not isinstance(found, VersionedModel)
    with pytest.raises(dlc.InvalidInputError) as raised:
        found(rows(count))
    assert str(raised.value) == message
    assert found(rows(64))[0].shape == (64, 4)


def test_a_range_without_an_end() -> None:
    found = dlc.compile(model(), shapes={"batch": range(4, 1 << 50, 4)})
    assert found(rows(4000))[0].shape == (4000, 4)
    with pytest.raises(dlc.InvalidInputError, match="must be a multiple of 4"):
        found(rows(3999))


@pytest.mark.parametrize(
    "shapes, message",
    [
        ({"bach": 4}, r"shapes: the model has no input and no dim 'bach'; did you mean 'batch'\?"),
        ({"q": range(3)}, r"shapes: the model has no input and no dim 'q' \(inputs: x; dims: batch\)"),
        (
            {"batch": "a"},
            r"shapes: dim 'batch' takes no 'a'; give a size, a range of sizes, or a list of sizes with at most one range",
        ),
        ({"batch": []}, r"shapes: dim 'batch' takes no \[\]"),
        ({"batch": [1, True]}, r"shapes: dim 'batch' takes no \[1, True\]"),
        ({"batch": [range(2), range(3)]}, r"shapes: dim 'batch' takes no \[range\(0, 2\), range\(0, 3\)\]"),
        ({"batch": -1}, r"shapes: 'batch' takes sizes of 0 and more, not -1"),
        ({"batch": True}, r"shapes: 'batch' takes sizes of 0 and more, not True"),
        ({"batch": range(3, 30, 2)}, r"takes no range\(3, 30, 2\); give one from a size to a greater one, and where it has a step"),
        ({"batch": range(5, 5)}, r"takes no range\(5, 5\)"),
        ({"batch": range(9, 1, -1)}, r"takes no range\(9, 1, -1\)"),
        ({"batch": [9, range(1, 9)]}, r"dim 'batch' is given the size 9, which is not in its range\(1, 9\)"),
        ({"x": [range(1, 4), 8]}, r"input 'x' takes one size or a name for each dim, not range\(1, 4\); name the dim there"),
        ({"x": 5}, r"input 'x' takes a list of sizes, not 5"),
        ({"x": [7, 8], "batch": range(1, 5)}, r"dim 'batch' of input 'x' is 7, which is not in range\(1, 5\)"),
        ({"batch": list(range(MOST_VERSIONS + 1))}, r"65 versions of 'mlp' \('batch' has 65\); give at most 64, or ranges"),
    ],
)
def test_sizes_that_are_none_are_refused_at_once(shapes: dict[str, Any], message: str) -> None:
    with pytest.raises(dlc.DLCError, match=message):
        dlc.compile(model(), shapes=shapes)


@pytest.mark.parametrize(
    "shapes, message",
    [
        ({"batch": 3, "sec": 4}, r"shapes: no input has a dim 'sec' that is dynamic; did you mean 'seq'\?"),
        ({"x": [3, 4]}, r"shapes: the shape of input 'x' can be given for ONNX models only; give sizes of its dims by their names"),
        ({"x": 4}, r"shapes: the shape of input 'x' can be given for ONNX models only"),
    ],
)
def test_mlir_takes_sizes_of_dims_alone(shapes: dict[str, Any], message: str) -> None:
    assert dlc.compile(TEXT, shapes={"batch": 2, "seq": 5}).inputs[0].shape == (2, 5)
    with pytest.raises(dlc.InvalidInputError, match=message):
        dlc.compile(TEXT, shapes=shapes)


def test_other_levels_have_no_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    affine = str(dlc.lower(TEXT, "affine"))
    with pytest.raises(dlc.InvalidInputError, match=r"shapes: sizes of dims need a model at level 'dl'"):
        dlc.compile(affine, shapes={"batch": [2]})
    with pytest.raises(dlc.InvalidInputError, match=r"specialize needs a model at level 'dl', and '<text>' is at level 'affine'"):
        dlc.compile(affine, specialize="auto")
    monkeypatch.setenv("DLC_SPECIALIZE", "auto")
    assert dlc.compile(affine)(rows(2, 3))[0].shape == (2, 3)


def test_versions_share_weights_in_memory() -> None:
    found = versioned(dlc.compile(resnet18.build(image=32, blocks=(1,), width=16, dynamic_batch=True), shapes={"batch": [1, 4]}))
    changed = versioned(found.with_params({}))
    for each in (found, changed):
        first, *others = (version._session._param_arrays for version in each._all())
        assert first and len(others) == 2
        for arrays in others:
            assert all(np.shares_memory(one, other) for one, other in zip(first, arrays, strict=True))


def test_weights_that_only_some_versions_compute_are_shared_one_by_one() -> None:
    """Recipes that differ in one array have the others in common."""
    text = """func.func @main_graph(%x: tensor<?x24xf32> {dl.dims = ["n", ""], dl.name = "x"}) -> tensor<?x24xf32> {
      %w = "dl.param"() {dtype = f32, key = "w", shape = array<i64: 24, 24>} : () -> tensor<24x24xf32>
      %b = "dl.param"() {dtype = f32, key = "b", shape = array<i64: 1, 24>} : () -> tensor<1x24xf32>
      %s = "dl.shape_of"(%x) : (tensor<?x24xf32>) -> tensor<2xi64>
      %e = "dl.expand"(%b, %s) {shape = array<i64: -1, -1>} : (tensor<1x24xf32>, tensor<2xi64>) -> tensor<?x24xf32>
      %c = "dl.concat"(%e, %x) {axis = 0 : i64} : (tensor<?x24xf32>, tensor<?x24xf32>) -> tensor<?x24xf32>
      %y = "dl.matmul"(%c, %w) : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
      return %y : tensor<?x24xf32>
    }"""
    params = {"w": rows(24, 24), "b": rows(1, 24)}
    found = versioned(dlc.compile(text, params=params, shapes={"n": [2, 3]}))
    np.testing.assert_allclose(found(rows(2, 24))[0][2:], rows(2, 24) @ params["w"], rtol=1e-4, atol=1e-5)
    recipes = {str(version._recipe.module) for version in found._all()}
    assert len(recipes) > 1, "the expanded bias is computed for a known size"
    general, *others = (version._session._param_arrays for version in found._all())
    large = next(array for array in general if array.size == 24 * 24)
    assert all(any(np.shares_memory(large, array) for array in arrays) for arrays in others)


def test_other_weights(lists: VersionedModel) -> None:
    key = next(iter(dlc.import_onnx(model()).params))
    changed = lists.with_params({key: np.zeros_like(dlc.import_onnx(model()).params[key])})
    one, two = changed(rows(1))[0], changed(rows(2))[0]
    assert versioned(changed).version(rows(2)) is not versioned(changed)._general
    np.testing.assert_allclose(two[0], one[0], rtol=1e-6)
    assert not np.allclose(lists(rows(1))[0], one)
    with pytest.raises(dlc.InvalidInputError, match="the model has no parameter 'v'"):
        lists.with_params({"v": np.ones(1, np.float32)})


def test_results_in_the_callers_arrays(plain: CompiledModel, lists: VersionedModel) -> None:
    for count in (2, 3):
        out = np.empty((count, 4), np.float32)
        assert lists.run([rows(count)], [out])[0] is out
        np.testing.assert_allclose(out, plain(rows(count))[0], rtol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match="output 'logits'"):
        lists.run([rows(2)], [np.empty((3, 4), np.float32)])


def test_many_requests(plain: CompiledModel, lists: VersionedModel) -> None:
    counts = [2, 2, 3, 4, 4, 1, 2]
    found = lists.run_many([rows(count) for count in counts])
    for count, result in zip(counts, found, strict=True):
        np.testing.assert_allclose(result[0], plain(rows(count))[0], rtol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match=r"request 2: .*its most is 8"):
        lists.run_many([rows(2), rows(3), rows(9)])
    with pytest.raises(dlc.InvalidInputError, match="request 1: input 'x'"):
        lists.run_many([rows(2), rows(2, 9)])


@pytest.mark.parametrize(
    "given", [(), (rows(2), rows(2)), ([rows(2, 9)],), ({"y": rows(2)},), (None,), (rows(2).astype(np.float64),)]
)
def test_wrong_arguments_have_the_words_of_a_plain_model(given: Sequence[Any], plain: CompiledModel, lists: VersionedModel) -> None:
    with pytest.raises(dlc.InvalidInputError) as expected:
        plain(*given)
    with pytest.raises(dlc.InvalidInputError) as raised:
        lists(*given)
    assert str(raised.value) == str(expected.value)


def test_dims_of_one_name_have_one_size() -> None:
    """Only the first place of a name is read; the version itself finds that another one differs."""
    nodes = [helper.make_node("Add", ["x", "y"], ["z"])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n"])])
    found = dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), shapes={"n": [2]})
    with pytest.raises(
        dlc.InvalidInputError, match=r"input 'y' expects f32\[n\] but got f32\[3\]; dim 'n' is 3 here but 2 in input 'x'"
    ):
        found(np.ones(2, np.float32), np.ones(3, np.float32))


def test_donated_inputs() -> None:
    proto = gpt2_decode.build(layers=1, hidden=16, heads=2, vocab=32, form="growing")
    names = [entry.name for entry in proto.graph.input]
    donated = [name for name in names if name.startswith(("key", "value"))]
    found = dlc.compile(proto, shapes={"past": [3]}, donate=donated)
    plain = dlc.compile(proto)
    for size in (3, 4, 3):
        feeds = dlc.random_inputs(plain.inputs, size, {"past": size})
        expected = plain(feeds)
        for have, want in zip(found({name: array.copy() for name, array in feeds.items()}), expected, strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


def test_limits_and_options_hold_in_every_version() -> None:
    found = versioned(dlc.compile(model(), shapes={"batch": [2, 4096]}, memory_limit=4096, num_threads=1, verify_schedules=True))
    assert all(version.options.memory_limit == 4096 and version.options.num_threads == 1 for version in found._all())
    assert len(found.verdicts) == sum(len(version.verdicts) for version in found._all()) > 0
    assert found(rows(2))[0].shape == (2, 4)
    with pytest.raises(dlc.OutOfMemoryError):
        found(rows(4096))
    with pytest.raises(dlc.CompileTimeoutError):
        dlc.compile(model(), shapes={"batch": [2]}, timeout=1e-6, cache=False)


def test_schedules_of_kernels_go_with_one_version() -> None:
    table = dlc.schedules_of(model())
    with pytest.raises(dlc.InvalidInputError, match="schedule: versions for sizes have kernels of their own"):
        dlc.compile(model(), shapes={"batch": [2]}, schedule=table.to_json())


def test_values_and_sizes() -> None:
    """A model that is specialised on values has versions for each of them; sizes that only a call knows keep to their range."""
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3]),
        helper.make_tensor_value_info("axes", TensorProto.INT64, ["k"]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    found = dlc.compile(proto, shapes={"n": [2, range(1, 5)]})
    assert isinstance(found, dlc.SpecializingModel)
    variant = versioned(found.specialize(rows(2, 3), np.array([1])))
    assert variant.version(rows(2, 3)).inputs[0].shape == (2, 3)
    for count in (2, 3):
        np.testing.assert_allclose(found(rows(count, 3), np.array([0]))[0], rows(count, 3).sum(0), rtol=1e-4, atol=1e-5)
    many = found.run_many([(rows(2, 3), np.array([1])), (rows(3, 3), np.array([1]))])
    np.testing.assert_allclose(many[1][0], rows(3, 3).sum(1), rtol=1e-4, atol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match="'n', is 5 but its most is 4"):
        found(rows(5, 3), np.array([0]))


def test_models_of_the_host_take_one_size_a_dim() -> None:
    nodes = [helper.make_node("StringConcat", ["s", "s"], ["t"]), helper.make_node("Relu", ["x"], ["y"])]
    inputs = [
        helper.make_tensor_value_info("s", TensorProto.STRING, ["n"]),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
    ]
    outputs = [
        helper.make_tensor_value_info("t", TensorProto.STRING, ["n"]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"]),
    ]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    with pytest.raises(dlc.InvalidInputError, match="runs partly on the host; give dim 'n' one size, or leave it out"):
        dlc.compile(proto, shapes={"n": range(1, 3)})
    found = dlc.compile(proto, shapes={"n": 2})
    assert found(np.array(["a", "b"], object), np.array([-1, 1], np.float32))[1].tolist() == [0, 1]


def test_cancel_reaches_every_version(lists: VersionedModel) -> None:
    lists.cancel()
    assert lists(rows(2))[0].shape == (2, 4)


def test_threads_call_all_versions(plain: CompiledModel, lists: VersionedModel) -> None:
    expected = {count: plain(rows(count))[0] for count in (1, 2, 3, 4)}
    wrong: list[int] = []

    def call(begin: int) -> None:
        for number in range(begin, begin + 200):
            count = 1 + number % 4
            if not np.allclose(lists(rows(count))[0], expected[count], rtol=1e-4, atol=1e-6):
                wrong.append(count)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_coverage_and_explain_take_sizes() -> None:
    assert not [node for node in dlc.coverage(model(), shapes={"batch": 4}).nodes if node.is_refused]
    assert any("[4, 16]" in kernel.type for kernel in dlc.explain(model(), shapes={"batch": 4}).kernels)
    with pytest.raises(dlc.InvalidInputError, match="no dim 'bach'"):
        dlc.coverage(model(), shapes={"bach": 4})


def test_the_reading_of_sizes() -> None:
    specs = dlc.compile(TEXT).inputs
    reading = SizeReading(specs)
    assert (reading.places, reading.names) == (((0, 0), (0, 1)), ("batch", "seq"))
    assert reading.show((2, 3)) == "batch=2, seq=3"
    assert reading.sizes_of((2, 3)) == ["0:0=2", "0:1=3"]
    arguments: list[tuple[Any, ...]] = [(rows(2, 3),), ([rows(2, 3)],), ({"x": rows(2, 3)},)]
    assert [reading.key_of(given) for given in arguments] == [(2, 3)] * 3
    wrong: list[tuple[Any, ...]] = [(), (3,), ({"y": 1},), (rows(2, 3)[0],), (None,)]
    assert [reading.key_of(given) for given in wrong] == [None] * 5


def test_declared_types_are_still_checked() -> None:
    """Bounds of dims are no other shapes: what the model declares of its values holds."""
    proto = model()
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 5
    for shapes in ({}, {"batch": range(1, 3)}):
        with pytest.raises(dlc.ParseError, match="makes 'logits' as"):
            dlc.compile(proto, shapes=shapes)
