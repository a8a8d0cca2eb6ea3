"""Weights that a model computes from its own: evaluated when it is compiled, by compiled code where text goes its own way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.sources import Source
from dlc.tools.dlc import cli
from dlc.weights import WeightRecipe

_W = np.arange(12, dtype=np.float32).reshape(3, 4)
_B = np.array([1, 2, 3], np.float32)
_X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


def graph() -> Graph:
    """`y = x @ w.T + exp(b)`, with `unused` besides."""
    with Graph() as built:
        x = built.input("x", ("n", 4))
        product = dl.matmul(x, dl.transpose(built.param("w", _W), perm=(1, 0)))
        built.param("unused", _B)
        built.output("y", dl.add(product, dl.exp(built.param("b", _B))))
    return built


def compiled_whole() -> dlc.CompiledModel:
    built = graph()
    return dlc.compile(built.module, params=built.params)


def compiled_from_llvm() -> dlc.CompiledModel:
    """Compiled from text at the last level, which computes the weights itself."""
    built = graph()
    return dlc.compile(str(dlc.lower(built.module)), params=built.params)


def compiled_from_optimized_text() -> dlc.CompiledModel:
    """Compiled from dl text that has `@precompute` already."""
    module = graph().module
    with module.context:
        dlc.Pipeline(["dl-optimize"]).run(module)
    assert "dl.precompute" in str(module)
    return dlc.compile(str(module), params={"w": _W, "b": _B})


WAYS = [compiled_whole, compiled_from_llvm, compiled_from_optimized_text]


@pytest.mark.parametrize("way", WAYS)
def test_results_and_other_weights(way: Callable[[], dlc.CompiledModel]) -> None:
    model = way()
    np.testing.assert_allclose(model(_X)[0], _X @ _W.T + np.exp(_B), rtol=1e-6)
    other = model.with_params({"w": -_W})
    np.testing.assert_allclose(other(_X)[0], -_X @ _W.T + np.exp(_B), rtol=1e-6)
    np.testing.assert_allclose(other.with_params({"b": _B * 2})(_X)[0], -_X @ _W.T + np.exp(2 * _B), rtol=1e-6)
    np.testing.assert_allclose(model(_X)[0], _X @ _W.T + np.exp(_B), rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_faults_name_the_weights_of_the_model(way: Callable[[], dlc.CompiledModel]) -> None:
    model = way()
    with pytest.raises(dlc.InvalidInputError, match=r"no parameter 'w.transpose'.*\bw\b"):
        model.with_params({"w.transpose": _W.T})
    with pytest.raises(dlc.InvalidInputError, match=r"'w' expects f32\[3, 4\] but got f32\[4, 3\]"):
        model.with_params({"w": _W.T})


def test_missing_weights_are_named() -> None:
    with pytest.raises(dlc.InvalidInputError, match="missing 'w'"):
        dlc.compile(graph().module, params={"b": _B})


def test_optimize_gives_the_arrays_that_the_module_reads() -> None:
    built = graph()
    source = dlc.optimize(Source(built.module, built.params, "<graph>"))
    assert "dl.precompute" not in str(source.module)
    assert set(source.params) >= {"w.transpose", "b.exp"}
    assert source.params["w.transpose"].flags.c_contiguous
    np.testing.assert_array_equal(source.params["w.transpose"], _W.T)
    assert "dl.precompute" in str(dlc.optimize(built.module).module)


def test_weight_that_is_a_view_shares_memory() -> None:
    with Graph() as built:
        x = built.input("x", (2, 6))
        built.output("y", dl.add(x, dl.reshape(built.param("w", _W), shape=(2, 6))))
    source = dlc.optimize(Source(built.module, built.params, "<graph>"))
    (computed,) = (array for key, array in source.params.items() if key != "w")
    assert np.shares_memory(computed, _W)


RESHAPED = """func.func @f(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 4>, dtype = f32} : () -> tensor<3x4xf32>
  %s = "dl.param"() {key = "sizes", shape = array<i64: 2>, dtype = i64} : () -> tensor<2xi64>
  %r = "dl.reshape"(%w, %s) {shape = array<i64: -1, -1>} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  %0 = "dl.add"(%x, %r) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}"""


@pytest.mark.parametrize(("sizes", "reason"), [((5, 5), "cannot reshape"), ((3, 4), r"'w.reshape' would be f32\[3, 4\]")])
def test_weights_that_cannot_be_computed_are_an_error(sizes: tuple[int, int], reason: str) -> None:
    x = np.zeros((2, 6), np.float32)
    model = dlc.compile(RESHAPED, params={"w": _W, "sizes": np.array([2, 6])})
    np.testing.assert_array_equal(model(x)[0], _W.reshape(2, 6))
    with pytest.raises(dlc.InvalidInputError, match=f"weights cannot be computed from these: .*{reason}"):
        model.with_params({"sizes": np.array(sizes)})


@pytest.mark.parametrize("level", ["linalg", "affine", "llvm"])
def test_emitted_text_lies_beside_the_weights_that_it_reads(level: str, tmp_path: Path) -> None:
    built = graph()
    (tmp_path / "graph.mlir").write_text(f'module attributes {{dl.params = "graph.safetensors"}} {str(built.module)[7:]}')
    dlc.save_params(tmp_path / "graph.safetensors", built.params)
    arguments = ["compile", str(tmp_path / "graph.mlir"), f"--emit={level}", "-o", str(tmp_path / "out.mlir")]
    CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert set(dlc.load_params(tmp_path / "out.safetensors")) == {"w.transpose", "b.exp"}
    model = dlc.compile(tmp_path / "out.mlir")
    np.testing.assert_array_equal(model(_X)[0], compiled_whole()(_X)[0])


def test_weights_begin_at_cache_lines() -> None:
    """Those that are computed, and those that the entry reads as they are but lie elsewhere in the model."""
    with Graph() as built:
        x = built.input("x", ("n", 64))
        weight = np.empty(64 * 40 + 3, np.float32)[3:].reshape(64, 40)
        weight[...] = 0.5
        built.output("y", dl.add(dl.matmul(x, built.param("w", weight)), dl.exp(built.param("b", weight[0, :]))))
    module = built.module
    with module.context:
        dlc.Pipeline(["dl-optimize"]).run(module)
        arrays = WeightRecipe.take(module, ("w", "b")).evaluate(built.params)
    assert {array.nbytes for array in arrays.values()} >= {40 * 4}
    assert [array.ctypes.data % 64 for array in arrays.values() if array.nbytes >= 64] == [0] * len(arrays)
