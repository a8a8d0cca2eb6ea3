"""Compiling again finds what was compiled before: kernels in memory and on disk, whole models on disk."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dlc
import dlc.model_cache
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.lowering import registry
from dlc.model_cache import ModelRecord
from dlc.runtime.signature import Computation, Signature, TensorSpec
from dlc.targets import object_store
from dlc.targets.disk_cache import CacheWarning
from dlc.targets.model_code import ModelCode
from dlc.weights import WeightRecipe


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path / "cache"))
    forget(monkeypatch)
    return tmp_path / "cache"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a process that has compiled nothing."""
    monkeypatch.setattr(object_store, "_MEMORY", object_store._Memory(1 << 20))


def model(width: int = 6, name: str = "w") -> dlc.sources.Source:
    random = np.random.default_rng(0)
    with Graph() as graph:
        x = graph.input("x", ("n", 4), "f32")
        w = graph.param(name, random.standard_normal((4, width), np.float32))
        v = graph.param("v", random.standard_normal((width, 3), np.float32))
        hidden = dl.relu(dl.matmul(x, w))
        graph.output("y", dl.softmax(dl.matmul(hidden, v), axis=1))
    return dlc.sources.Source(graph.module, graph.params, "test")


def expected(source: dlc.sources.Source, x: np.ndarray) -> np.ndarray:
    from dlc.dialects.dl.interpreter import interpret

    return interpret(source.module, [x], source.params)[0]


X = np.random.default_rng(1).standard_normal((5, 4), np.float32)


def test_the_second_time_runs_no_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = model()
    first = dlc.compile(source)
    assert first.build_report.compiled == first.build_report.kernels + 1
    assert not first.build_report.whole
    forget(monkeypatch)
    steps: list[str] = []
    second = dlc.compile(source, progress=steps.append)
    assert second.build_report.whole
    assert second.build_report.compiled == 0
    assert steps == ["load machine code"]
    np.testing.assert_allclose(first(X)[0], expected(source, X), rtol=1e-5)
    np.testing.assert_array_equal(first(X)[0], second(X)[0])
    assert (str(first.inputs), str(first.outputs), repr(first)) == (str(second.inputs), str(second.outputs), repr(second))
    assert second.print_ir("linalg") == first.print_ir("linalg")
    params = {key: -array for key, array in source.params.items()}
    np.testing.assert_array_equal(second.with_params(params)(X)[0], first.with_params(params)(X)[0])
    with pytest.raises(dlc.InvalidInputError, match="the model has no parameter 'u'"):
        second.with_params({"u": X})
    other = {key: array * 2 for key, array in source.params.items()}
    np.testing.assert_array_equal(dlc.compile(source, params=other)(X)[0], second.with_params(other)(X)[0])


def test_records_keep_everything() -> None:
    spec = TensorSpec("x", (1, "n", None), "f16", donated=True)
    signature = Signature("main", (spec,), (spec, spec), (), Computation("precompute", (spec,), ()))
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse("func.func @precompute() { return }")
        recipe = WeightRecipe(("a", "b"), (spec,), frozenset({"a"}), module)
        record = ModelRecord(ModelCode(signature, (b"", b"code")), recipe, 3)
        again = ModelRecord.of_bytes(record.to_bytes())
    assert again.code == record.code
    assert again.kernels == 3
    assert str(again.recipe.module) == str(module)
    assert replace(again.recipe, module=None) == replace(recipe, module=None)
    plain = replace(record, recipe=WeightRecipe(), code=ModelCode(Signature("f", (), ()), ()))
    assert ModelRecord.of_bytes(plain.to_bytes()) == plain


def test_another_model_finds_the_kernels_that_it_shares(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = dlc.compile(model())
    shared = dlc.compile(model(name="other_name"))
    assert not shared.build_report.whole
    assert shared.build_report.compiled == 1  # the entry, whose signature names the weights; kernels come from memory
    forget(monkeypatch)
    assert dlc.compile(model(name="third_name")).build_report.compiled == 1  # from disk
    wider = dlc.compile(model(width=7))
    assert wider.build_report.compiled > 0
    assert first.build_report.kernels == shared.build_report.kernels


def test_options_are_part_of_the_key(folder: Path) -> None:
    source = model()
    dlc.compile(source)
    assert dlc.compile(source, opt_level=1).build_report.compiled > 0
    assert dlc.compile(source, num_threads=1).build_report.whole


def test_damage_is_repaired(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = model()
    want = dlc.compile(source)(X)[0]
    for file in [file for file in folder.rglob("*") if file.is_file()]:
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0xFF
        file.write_bytes(data)
    forget(monkeypatch)
    again = dlc.compile(source)
    assert again.build_report.compiled == again.build_report.kernels + 1
    np.testing.assert_array_equal(again(X)[0], want)
    forget(monkeypatch)
    assert dlc.compile(source).build_report.whole


def test_the_cache_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = model()
    dlc.compile(source, cache=False)
    assert not folder.exists()
    forget(monkeypatch)
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    assert dlc.compile(source).build_report.compiled > 0
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_one_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a file")
    source = model()
    with pytest.warns(CacheWarning) as seen:
        compiled = dlc.compile(source)
    assert len(seen) == 1
    np.testing.assert_allclose(compiled(X)[0], expected(source, X), rtol=1e-5)


def test_foreign_ops_and_passes_are_not_kept_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their sources are not part of the key."""
    source = model()
    dlc.compile(source)
    assert dlc.model_cache.model_key(source.module, "")
    monkeypatch.setattr(registry, "_PLUGIN_PASSES", {"my-pass"})
    assert dlc.model_cache.model_key(source.module, "") is None
    assert not dlc.compile(source).build_report.whole
    monkeypatch.setattr(registry, "_PLUGIN_PASSES", set())
    assert dlc.compile(source).build_report.whole
    from dlc.lowering.dl_to_linalg.building import lowerings

    monkeypatch.setitem(lowerings._LOWERINGS, "relu", lambda b, op: None)
    assert dlc.model_cache.model_key(source.module, "") is None


def test_errors_at_run_time_keep_their_nodes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {{
  %0 = "dl.add"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("{node}")
  return %0 : tensor<?xf32>
}}"""
    for node in ("first", "second"):
        for _ in range(2):
            forget(monkeypatch)
            compiled = dlc.compile(text.format(node=node))
            with pytest.raises(dlc.InvalidInputError, match=node):
                compiled(np.zeros(2, np.float32), np.zeros(3, np.float32))
    assert compiled.build_report.whole


COMPILE = """
import sys
import numpy as np, dlc
compiled = dlc.compile(sys.argv[1])
x = np.arange(8, dtype=np.float32)
assert np.array_equal(compiled(x)[0], np.maximum(x - 3, 0) * 2), "a wrong result"
print(compiled.build_report.whole)
"""
TEXT = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = "dl.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %two = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.sub"(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "dl.relu"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "dl.mul"(%1, %two) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""


def test_processes_share_the_cache(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.mlir").write_text(TEXT)
    command = [sys.executable, "-W", "error", "-c", COMPILE, str(tmp_path / "model.mlir")]
    together = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    outputs = [process.communicate()[0] for process in together]
    assert [process.returncode for process in together] == [0] * 6
    assert set(outputs) <= {"True\n", "False\n"}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_code_is_freed_with_the_model(folder: Path) -> None:
    source = model()
    want = dlc.compile(source)(X)[0]
    seen = []
    for _ in range(4):
        for _ in range(50):
            compiled = dlc.compile(source)
            np.testing.assert_array_equal(compiled(X)[0], want)
        results = compiled(X)
        del compiled
        gc.collect()
        np.testing.assert_array_equal(results[0], want)
        seen.append(resident())
    assert seen[-1] - seen[1] < 2 << 20, seen


def test_a_forked_child_may_compile(folder: Path) -> None:
    dlc.compile(model())
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_compile_in_child) > 0


def _compile_in_child() -> int:
    compiled = dlc.compile(model(width=9), cache=False)
    np.testing.assert_allclose(compiled(X)[0], expected(model(width=9), X), rtol=1e-5)
    return compiled.build_report.compiled
