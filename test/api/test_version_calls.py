"""Calls of a model with versions for sizes: forms, weights, batches, errors and threads are those of a plain model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from version_models import TEXT, model, rows, versioned, wrong_calls

import dlc
from bench.networks import gpt2_decode, resnet18
from dlc.compiled_model import CompiledModel
from dlc.versions.reading import SizeReading
from dlc.versions.versioned_model import VersionedModel


@pytest.fixture(scope="module")
def plain() -> CompiledModel:
    return dlc.compile(model())


@pytest.fixture(scope="module")
def lists() -> VersionedModel:
    return versioned(dlc.compile(model(), shapes={"batch": [2, 4, range(1, 9)]}))


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


def test_cancel_reaches_every_version(lists: VersionedModel) -> None:
    lists.cancel()
    assert lists(rows(2))[0].shape == (2, 4)


def test_threads_call_all_versions(plain: CompiledModel, lists: VersionedModel) -> None:
    assert not wrong_calls(plain, lists, 200)


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
