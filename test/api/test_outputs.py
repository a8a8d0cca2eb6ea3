"""Results in the caller's memory: computed there, copied where they cannot be, refused where they do not fit."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.errors import InvalidInputError
from dlc.runtime.library import load_library

x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
_memory = np.zeros(32, np.float32)
weight = _memory[-_memory.ctypes.data % 64 // 4 :][:16].reshape(4, 4)
"""Aligned to 64 bytes, so that models use it where it is."""
weight[:] = np.arange(16).reshape(4, 4)


def _compiled(rows: int | str) -> dlc.CompiledModel:
    """(relu(x), x @ w) for x of `rows` rows."""
    with Graph() as graph:
        value = graph.input("x", (rows, 4))
        graph.output("positive", dl.relu(value))
        graph.output("product", dl.matmul(value, graph.param("w", weight)))
    return dlc.compile(graph.module, params=graph.params)


@pytest.fixture(scope="module", params=[3, "n"], ids=["static", "dynamic"])
def model(request: pytest.FixtureRequest) -> dlc.CompiledModel:
    return _compiled(request.param)


def _check(results: list[np.ndarray], of: np.ndarray = x) -> None:
    np.testing.assert_array_equal(results[0], np.maximum(of, 0))
    np.testing.assert_allclose(results[1], of @ weight, rtol=1e-5)


def test_results_are_the_given_arrays(model: dlc.CompiledModel) -> None:
    outputs = [np.empty_like(x), np.empty_like(x)]
    for scale in (1, 2):
        results = model.run([x * scale], outputs)
        assert results[0] is outputs[0]
        assert results[1] is outputs[1]
        _check(results, x * scale)


def test_nothing_is_allocated_for_given_results(model: dlc.CompiledModel) -> None:
    outputs = [np.empty_like(x), np.empty_like(x)]
    model.run([x], outputs)
    library = load_library()
    gc.collect()
    library.memory_reset_peak()
    before = library.memory_live()
    model.run([x], outputs)
    assert library.memory_peak() == before


def test_by_name_with_the_others_in_memory_of_their_own(model: dlc.CompiledModel) -> None:
    product = np.empty_like(x)
    results = model.run({"x": x}, {"product": product})
    assert results[1] is product
    _check(results)
    _check(model.run(x))
    _check(model.run([x], [None, product]))


def test_later_results_do_not_lie_in_the_same_memory(model: dlc.CompiledModel) -> None:
    first = model(x)
    outputs = [np.empty_like(x), np.empty_like(x)]
    model.run([x * 2], outputs)
    second = model(x * 3)
    _check(first)
    _check(outputs, x * 2)
    _check(second, x * 3)


def test_an_output_may_overlap_an_input(model: dlc.CompiledModel) -> None:
    memory = np.zeros(24, np.float32)
    memory[4:16] = x.reshape(-1)
    given, shifted = memory[4:16].reshape(3, 4), memory[8:20].reshape(3, 4)
    result = model.run([given], [None, shifted])[1]
    assert result is shifted
    np.testing.assert_allclose(result, x @ weight, rtol=1e-5)


def test_shapes_may_change_from_call_to_call() -> None:
    model = _compiled("n")
    for rows in (3, 1, 2, 0, 6, 6, 2):
        data = np.resize(x, (rows, 4)).copy()
        _check(model(data), data)
        outputs = [np.empty_like(data), np.empty_like(data)]
        _check(model.run([data], outputs), data)


def test_equal_sizes_of_other_shapes() -> None:
    """Memory that was made for the last shape serves another one of the same size."""
    with Graph() as graph:
        graph.output("y", dl.transpose(graph.input("x", ("n", "m")), perm=[1, 0]))
    model = dlc.compile(graph.module)
    for shape in ((3, 4), (4, 3), (2, 6), (12, 1)):
        data = np.arange(12, dtype=np.float32).reshape(shape)
        np.testing.assert_array_equal(model(data)[0], data.T)
    with pytest.raises(InvalidInputError, match=r"output 'y' is f32\[4, 3\] but the array for it is f32\[3, 4\]"):
        model.run([x], [np.empty((3, 4), np.float32)])


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64])
def test_element_types_and_rank_zero(dtype: type) -> None:
    name = {"bfloat16": "bf16"}.get(np.dtype(dtype).name, np.dtype(dtype).name.replace("float", "f").replace("int", "i"))
    with Graph() as graph:
        value = graph.input("x", (), name)
        graph.output("y", dl.add(value, value))
    model = dlc.compile(graph.module)
    output = np.zeros((), dtype)
    assert model.run([np.asarray(3, dtype)], [output])[0] is output
    assert output == 6
    assert model(np.asarray(2, dtype))[0] == 4


def test_an_argument_that_is_returned_is_copied() -> None:
    kinds = "tensor<3x4xf32>, tensor<3x4xf32>"
    model = dlc.compile(f"func.func @main(%x: tensor<3x4xf32>) -> ({kinds}) {{ return %x, %x : {kinds} }}")
    outputs = [np.empty_like(x), np.empty_like(x)]
    for result in (*model.run([x], outputs), *outputs, *model(x)):
        np.testing.assert_array_equal(result, x)


_EMPTY = np.empty((3, 4), np.float32)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([_EMPTY], r"expected 2 output arrays but got 1; the model gives positive: f32\[.*4\], product"),
        ({"sum": _EMPTY}, "outputs by name: unknown 'sum'; the model gives positive, product"),
        ([_EMPTY, _EMPTY], "output 'product' shares memory with output 'positive'; give arrays of their own"),
        ([None, np.empty((3, 5), np.float32)], r"output 'product' is f32\[.*, 4\] but the array for it is f32\[3, 5\]"),
        ([None, np.empty((3, 4))], r"output 'product' is f32\[.*, 4\] but the array for it is f64\[3, 4\]"),
        ([None, np.empty((4, 3), np.float32).T], "output 'product' is not row-major; give an array made by numpy.empty"),
        ([None, np.broadcast_to(np.float32(0), (3, 4))], "output 'product' is read-only"),
        ([None, [[0.0]]], r"output 'product' expects an array f32\[.*, 4\] to write to but got list"),
        ([None, weight[1:]], "output 'product' shares memory with a weight of the model"),
        ([None, np.empty((2, 4), np.float32)], r"output 'product' is f32\[.*, 4\] but the array for it is f32\[2, 4\]"),
    ],
)
def test_refused(model: dlc.CompiledModel, outputs: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        model.run([x], outputs)  # type: ignore[arg-type]
    _check(model(x))


def test_read_only_inputs_are_read_where_they_lie(model: dlc.CompiledModel) -> None:
    frozen = x.copy()
    frozen.flags.writeable = False
    for _ in range(3):
        _check(model(frozen), frozen)


def test_an_output_of_the_last_call_may_be_an_input(model: dlc.CompiledModel) -> None:
    given = [x.copy(), np.empty_like(x)]
    for _ in range(3):
        results = model.run([given[0]], [None, given[0]])
        np.testing.assert_array_equal(results[0], np.maximum(x, 0))
        np.testing.assert_allclose(given[0], x @ weight, rtol=1e-5)
        given[0][:] = x


def test_views_of_one_memory_are_refused_after_calls_that_fit(model: dlc.CompiledModel) -> None:
    model.run([x], [np.empty_like(x), np.empty_like(x)])
    memory = np.empty(20, np.float32)
    with pytest.raises(InvalidInputError, match="output 'product' shares memory with output 'positive'"):
        model.run([x], [memory[:12].reshape(3, 4), memory[8:].reshape(3, 4)])
    frozen = np.empty_like(x)
    frozen.flags.writeable = False
    with pytest.raises(InvalidInputError, match="output 'positive' is read-only"):
        model.run([x], [frozen, np.empty_like(x)])
    _check(model.run([x], (np.empty_like(x), np.empty_like(x))))


def test_arrays_of_an_unknown_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the native library cannot read array objects, calls take the long way to the same results."""
    library = load_library()
    monkeypatch.setattr(library, "bind_inputs", lambda call, takes_sizes: 2)
    monkeypatch.setattr(library, "new_callers", lambda idle, inputs, outputs: (lambda *arguments: None,) * 4)
    model = _compiled(3)
    _check(model(x))
    outputs = [np.empty_like(x), np.empty_like(x)]
    assert model.run([x], outputs)[0] is outputs[0]
    _check(outputs)
