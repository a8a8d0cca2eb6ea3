"""Calls of models that read inputs as values: forms of arguments, and options that hold in each variant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from specialized_models import FLOAT, INT, W, X, build, node, product, reduction

import dlc


@pytest.fixture(scope="module")
def model() -> dlc.CompiledModel:
    return dlc.compile(reduction())


def test_wrong_arguments(model: dlc.CompiledModel) -> None:
    with pytest.raises(
        dlc.InvalidInputError, match=r"expected 2 inputs but got 1; the model's inputs are .*axes: i64\[k\] by value"
    ):
        model(X)
    with pytest.raises(dlc.InvalidInputError, match="missing 'axes'; unknown 'axis'"):
        model({"x": X, "axis": np.array([0])})


def test_other_forms_of_arguments(model: dlc.CompiledModel) -> None:
    """Lists, names, views and other byte orders, in calls that find their variant and in those that make it."""
    axes = np.array([9, 0, 9, 2, 9])[1::2]
    expected = np.maximum(X.sum((0, 2)), 0)
    swapped = axes.astype(axes.dtype.newbyteorder())
    for given in ([X, axes], (X, axes), {"axes": axes, "x": X}, [X, swapped], [np.asfortranarray(X), axes]):
        np.testing.assert_allclose(model(given)[0], expected, rtol=1e-5)


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
