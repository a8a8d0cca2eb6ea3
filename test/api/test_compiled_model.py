"""What a compiled model takes and gives: arrays of every kind in, arrays that own their memory out."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.attributes import AttributeMismatch
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import ALL_DTYPES
from dlc.dtypes import NUMPY_DTYPES


@pytest.fixture(scope="module")
def affine() -> dlc.CompiledModel:
    """`scaled = x * w`, `shifted = x + b` for any number of rows."""
    with Graph() as graph:
        x = graph.input("x", ("n", 4))
        b = graph.input("b", (4,))
        graph.output("scaled", dl.mul(x, graph.param("w", np.arange(4, dtype=np.float32))))
        graph.output("shifted", dl.add(x, b))
    return dlc.compile(graph.module, params=graph.params)


_X = np.arange(12, dtype=np.float32).reshape(3, 4)
_B = np.array([1, 2, 3, 4], np.float32)


def test_calls_by_position_list_and_name(affine: dlc.CompiledModel) -> None:
    for results in (affine(_X, _B), affine([_X, _B]), affine((_X, _B)), affine({"b": _B, "x": _X})):
        assert isinstance(results, list)
        np.testing.assert_array_equal(results[0], _X * np.arange(4, dtype=np.float32))
        np.testing.assert_array_equal(results[1], _X + _B)


def test_inputs_and_outputs(affine: dlc.CompiledModel) -> None:
    assert [(spec.name, spec.shape, spec.dtype) for spec in affine.inputs] == [("x", ("n", 4), "f32"), ("b", (4,), "f32")]
    assert [spec.name for spec in affine.outputs] == ["scaled", "shifted"]
    assert affine.outputs[0].numpy_dtype == np.float32
    assert "x: f32[n, 4]" in repr(affine)


def test_results_own_their_memory(affine: dlc.CompiledModel) -> None:
    first, second = affine(_X, _B), affine(_X, _B)
    assert not any(np.shares_memory(left, right) for left in first for right in (*second, _X, _B))
    assert not np.shares_memory(*first)
    first[0][:] = -1
    np.testing.assert_array_equal(second[0], _X * np.arange(4, dtype=np.float32))
    np.testing.assert_array_equal(affine(_X, _B)[0], second[0])


def test_results_outlive_the_model() -> None:
    with Graph() as graph:
        graph.output("y", dl.neg(graph.input("x", (64, 64))))
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    model = dlc.compile(graph.module)
    (y,) = model(x)
    row = y[3, ::2]
    del model, graph, y
    gc.collect()
    np.testing.assert_array_equal(row, -x[3, ::2])
    row += 1


def test_inputs_are_only_read(affine: dlc.CompiledModel) -> None:
    x, b = _X.copy(), _B.copy()
    x.flags.writeable = b.flags.writeable = False
    affine(x, b)
    np.testing.assert_array_equal(x, _X)


class _Foreign:
    """An array of another library, which knows DLPack only."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **keywords: object) -> object:
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class _Convertible:
    """An array of another library, which NumPy can convert."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return _X


def _unaligned() -> np.ndarray:
    return np.frombuffer(b"\0" + _X.tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 4)


LAYOUTS = {
    "column-major": np.asfortranarray(_X),
    "strided": np.repeat(_X, 2, axis=1)[:, ::2],
    "reversed": _X[::-1].copy()[::-1],
    "big-endian": _X.astype(">f4"),
    "unaligned": _unaligned(),
    "subclass": _X.view(np.matrix),
    "DLPack": _Foreign(_X.copy()),
    "__array__": _Convertible(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout(affine: dlc.CompiledModel, layout: str) -> None:
    scaled, shifted = affine(LAYOUTS[layout], _B)
    assert type(shifted) is np.ndarray
    np.testing.assert_array_equal(shifted, _X + _B)
    np.testing.assert_array_equal(scaled, _X * np.arange(4, dtype=np.float32))


def test_broadcast_strides(affine: dlc.CompiledModel) -> None:
    np.testing.assert_array_equal(affine(np.broadcast_to(_B, (5, 4)), _B)[1], np.broadcast_to(_B + _B, (5, 4)))


def test_no_rows(affine: dlc.CompiledModel) -> None:
    scaled, shifted = affine(np.empty((0, 4), np.float32), _B)
    assert scaled.shape == shifted.shape == (0, 4)


def test_torch_is_not_needed() -> None:
    assert "torch" not in sys.modules


@pytest.mark.parametrize("dtype", STORAGE)
def test_types_that_are_only_stored_pass_through(dtype: str) -> None:
    """Inputs, outputs and weights hold the arrays of ml_dtypes; a constant is refused with what to do."""
    x_value = np.arange(4).astype(NUMPY_DTYPES[dtype])
    with Graph() as graph:
        x = graph.input("x", (None,), dtype)
        graph.output("same", x)
        graph.output("wide", dl.cast(x, to="f32"))
        graph.output("weight", dl.param(key="w", shape=[4], dtype=dtype))
        with pytest.raises(AttributeMismatch, match=rf"values of {dtype}; make it a dl.param"):
            dl.constant(value=x_value)
    same, wide, weight = dlc.compile(graph.module, params={"w": x_value})(x_value)
    assert same.dtype == weight.dtype == x_value.dtype
    for found in (same, wide, weight):
        np.testing.assert_array_equal(found.astype(np.float32), x_value.astype(np.float32))


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_scalars_of_each_type_come_back_as_they_went(dtype: str) -> None:
    """Inputs, constants and repeated values are copied into results of their own."""
    with Graph() as graph:
        x = graph.input("x", (), dtype)
        constant = dl.constant(value=np.ones((), NUMPY_DTYPES[dtype]))
        for name, value in (("x0", x), ("x1", x), ("one", constant)):
            graph.output(name, value)
    model = dlc.compile(graph.module)
    x_value = np.ones((), NUMPY_DTYPES[dtype])
    for _ in range(2):
        results = model(x_value)
        assert [result.shape for result in results] == [(), (), ()]
        assert all(result.dtype == NUMPY_DTYPES[dtype] and result == 1 for result in results)
        for result in results:
            result[...] = 0
        assert x_value == 1


def test_other_weights(affine: dlc.CompiledModel) -> None:
    other = affine.with_params({"w": np.full(4, 10, np.float32)})
    np.testing.assert_array_equal(other(_X, _B)[0], _X * 10)
    np.testing.assert_array_equal(affine(_X, _B)[0], _X * np.arange(4, dtype=np.float32))
    with pytest.raises(dlc.InvalidInputError, match=r"no parameter 'v' \(parameters: w\)"):
        affine.with_params({"v": np.ones(4, np.float32)})
    with pytest.raises(dlc.InvalidInputError, match=r"'w' expects f32\[4\] but got f32\[5\]"):
        affine.with_params({"w": np.ones(5, np.float32)})


_MARKS = {"dl": "dl.mul", "linalg": "linalg.", "affine": "affine.for", "llvm": "llvm.func"}


@pytest.mark.parametrize(("stage", "mark"), _MARKS.items())
def test_print_ir(affine: dlc.CompiledModel, capsys: pytest.CaptureFixture[str], stage: str, mark: str) -> None:
    text = affine.print_ir(stage)
    assert mark in text
    assert capsys.readouterr().out == text + "\n"


def test_print_ir_of_a_level_that_is_gone(affine: dlc.CompiledModel) -> None:
    lowered = dlc.compile(dlc.lower(affine.print_ir("dl"), to="affine"), params={"w": _B})
    with pytest.raises(dlc.PassError, match="can't go back from stage 'affine' to stage 'linalg'"):
        lowered.print_ir("linalg")
    with pytest.raises(dlc.PassError, match="no stage is called 'gpu'"):
        lowered.print_ir("gpu")
