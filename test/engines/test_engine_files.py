"""Engine files: saved, loaded and called like the model that they came from; equal models give equal bytes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from engine_models import FEW, small_input

import dlc
from bench.networks import mlp
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dtypes import NUMPY_DTYPES
from dlc.engines.saving import read_manifest
from dlc.targets import registry

x = small_input()


def test_results_are_those_of_the_model(model: dlc.CompiledModel, engine_file: Path) -> None:
    engine = dlc.load(engine_file)
    assert (engine.inputs, engine.outputs) == (model.inputs, model.outputs)
    for rows in (1, 3, 64):
        given = small_input(rows)
        np.testing.assert_array_equal(engine(given)[0], model(given)[0], strict=True)


@pytest.mark.parametrize("arguments", [(x,), ([x],), ({"x": x},), (np.asfortranarray(x),)])
def test_arguments_are_those_of_models(model: dlc.CompiledModel, engine_file: Path, arguments: tuple) -> None:
    np.testing.assert_array_equal(dlc.load(engine_file)(*arguments)[0], model(x)[0])


def test_results_go_to_the_callers_arrays(model: dlc.CompiledModel, engine_file: Path) -> None:
    engine, given = dlc.load(engine_file), np.empty((3, FEW[-1]), np.float32)
    results = engine.run({"x": x}, {"logits": given})
    assert results[0] is given
    np.testing.assert_array_equal(given, model(x)[0])
    batches = engine.run_many([x, x[:1]])
    assert [each[0].shape[0] for each in batches] == [3, 1]


def test_unfit_arguments_are_refused_in_the_same_words(model: dlc.CompiledModel, engine_file: Path) -> None:
    engine = dlc.load(engine_file)
    for wrong in (x.astype(np.float64), x[:, :3], x[0]):
        with pytest.raises(dlc.InvalidInputError) as of_model:
            model(wrong)
        with pytest.raises(dlc.InvalidInputError) as of_engine:
            engine(wrong)
        assert str(of_model.value) == str(of_engine.value)


def test_an_engine_loads_from_bytes_and_from_a_moved_file(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    content = engine_file.read_bytes()
    moved = tmp_path / "ä b.dlce"
    moved.write_bytes(content)
    for source in (content, bytearray(content), memoryview(content), moved, str(moved)):
        np.testing.assert_array_equal(dlc.load(source, verify=True)(x)[0], model(x)[0])


def test_asynchronous_calls(model: dlc.CompiledModel, engine_file: Path) -> None:
    engine = dlc.load(engine_file)

    async def several() -> list[list[np.ndarray]]:
        return await asyncio.gather(*(each.run_async([x]) for each in (engine, model, engine)))

    for results in asyncio.run(several()):
        np.testing.assert_array_equal(results[0], model(x)[0])


def test_a_cancelled_task_ends_its_call_alone() -> None:
    model = dlc.compile(mlp.build(widths=(256,) * 40))
    given = list(dlc.random_inputs(model.inputs).values())

    async def cancelled() -> None:
        task = asyncio.create_task(model.run_async(given))
        other = asyncio.create_task(model.run_async(given))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(await other) == len(model.outputs)

    asyncio.run(cancelled())


def test_an_engine_is_cancelled_by_another_thread(tmp_path: Path) -> None:
    dlc.compile(mlp.build(widths=(256,) * 40)).save(tmp_path / "m.dlce")
    engine, errors = dlc.load(tmp_path / "m.dlce"), []
    given = np.ones((1, 256), np.float32)
    expected = engine(given)[0]

    async def call() -> None:
        while True:
            await engine.run_async([given])

    def work(runs: Callable[[], object]) -> None:
        try:
            while True:
                runs()
        except dlc.CancelledError as error:
            errors.append(error)

    for runs in (lambda: engine(given), lambda: asyncio.run(call())):
        thread = threading.Thread(target=work, args=(runs,))
        thread.start()
        while thread.is_alive():
            engine.cancel()
    assert len(errors) == 2
    np.testing.assert_array_equal(engine(given)[0], expected)


def test_asynchronous_calls_of_models_that_are_specialised() -> None:
    node = onnx.helper.make_node("ReduceSum", ["x", "axes"], ["y"])
    values = [onnx.helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in (("x", 1, [2, 3]), ("axes", 7, [1]))]
    graph = onnx.helper.make_graph([node], "g", values, [onnx.helper.make_tensor_value_info("y", 1, None)])
    model = dlc.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]))
    (result,) = asyncio.run(model.run_async([np.ones((2, 3), np.float32), np.array([1])]))
    np.testing.assert_array_equal(result, [[3], [3]])


def test_threads_share_an_engine(model: dlc.CompiledModel, engine_file: Path) -> None:
    engine, expected, failed = dlc.load(engine_file), model(x)[0], []

    def call() -> None:
        failed.extend(1 for _ in range(50) if not np.array_equal(engine(x)[0], expected))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_results_outlive_the_engine(engine_file: Path) -> None:
    engine = dlc.load(engine_file)
    given = small_input(20000)
    results = engine(given)[0]
    kept = results.copy()
    del engine
    np.testing.assert_array_equal(results, kept)


def test_separate_weights(model: dlc.CompiledModel, tmp_path: Path) -> None:
    file = tmp_path / "m.dlce"
    model.save(file, separate_weights=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.dlce", "m.weights"]
    np.testing.assert_array_equal(dlc.load(file)(x)[0], model(x)[0])
    other = tmp_path / "elsewhere"
    (tmp_path / "m.weights").rename(other)
    with pytest.raises(dlc.RuntimeLoadError, match=r"m\.weights' cannot be read"):
        dlc.load(file)
    np.testing.assert_array_equal(dlc.load(file, weights=other)(x)[0], model(x)[0])
    with pytest.raises(dlc.RuntimeLoadError, match="give its path as weights"):
        dlc.load(file.read_bytes())
    np.testing.assert_array_equal(dlc.load(file.read_bytes(), weights=other)(x)[0], model(x)[0])


@pytest.mark.parametrize("name", ["m.weights", "a\\b.dlce"])
def test_names_without_room_for_weights(model: dlc.CompiledModel, tmp_path: Path, name: str) -> None:
    with pytest.raises(dlc.InvalidInputError, match="give the engine another name"):
        model.save(tmp_path / name, separate_weights=True)
    assert not list(tmp_path.iterdir())


def test_swapped_weights_are_refused(model: dlc.CompiledModel, tmp_path: Path) -> None:
    changed = model.with_params({key: array * 2 for key, array in model._source.params.items()})
    for name, each in (("a", model), ("b", changed)):
        each.save(tmp_path / f"{name}.dlce", separate_weights=True)
    (tmp_path / "b.weights").replace(tmp_path / "a.weights")
    with pytest.raises(dlc.RuntimeLoadError, match=r"it holds the weights \w+\.\.\., and the engine needs \w+\.\.\."):
        dlc.load(tmp_path / "a.dlce")


def test_other_weights_are_saved(model: dlc.CompiledModel, tmp_path: Path) -> None:
    changed = model.with_params({key: array * 2 for key, array in model._source.params.items()})
    changed.save(tmp_path / "m.dlce")
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(x)[0], changed(x)[0])


def _graph(kind: str) -> tuple[dlc.CompiledModel, dict[str, np.ndarray]]:
    """A small graph without weights, and arguments for it."""
    with Graph() as graph:
        if kind == "scalar":
            graph.output("y", dl.exp(graph.input("x", (), "f32")))
        elif kind == "several outputs":
            x, y = graph.input("x", ("n", 4), "f32"), graph.input("y", ("n", 4), "f32")
            graph.output("sum", dl.add(x, y))
            graph.output("negated", dl.neg(x))
        elif kind == "bf16":
            graph.output("y", dl.exp(graph.input("x", (3, 4), "bf16")))
        else:
            graph.output("y", dl.neg(graph.input("x", ("n", 4), kind)))
    model = dlc.compile(graph.module)
    return model, dlc.random_inputs(model.inputs, seed=3, sizes={"n": 5})


@pytest.mark.parametrize("kind", ["scalar", "several outputs", "bf16", "f64", "i8", "i64"])
def test_kinds_of_signatures(tmp_path: Path, kind: str) -> None:
    model, given = _graph(kind)
    model.save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    assert (engine.inputs, engine.outputs) == (model.inputs, model.outputs)
    for result, expected in zip(engine(given), model(given), strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)


_CACHED = """
func.func @main(%c: tensor<8x4xf32> {dl.name = "cache"}, %u: tensor<1x4xf32>, %s: tensor<1xi64>) -> tensor<8x4xf32> {
  %0 = "dl.update_slice"(%c, %u, %s) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def test_donated_inputs(tmp_path: Path) -> None:
    dlc.compile(_CACHED, donate=["cache"]).save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    cache = np.zeros((8, 4), np.float32)
    (result,) = engine(cache, np.ones((1, 4), np.float32), np.array([5]))
    assert engine.inputs[0].donated
    assert np.shares_memory(result, cache)
    np.testing.assert_array_equal(cache.sum(1), [0, 0, 0, 0, 0, 4, 0, 0])


def test_weights_that_code_computes_are_in_the_engine(tmp_path: Path) -> None:
    """Text of the last level has a function for them, which runs when the model is saved."""
    w = np.arange(12, dtype=np.float32).reshape(3, 4)
    with Graph() as graph:
        given = graph.input("x", ("n", 4))
        graph.output(
            "y", dl.add(dl.matmul(given, dl.transpose(graph.param("w", w), perm=(1, 0))), dl.exp(graph.param("b", w[0, :3])))
        )
    model = dlc.compile(str(dlc.lower(graph.module)), params=graph.params)
    assert model._session.signature.precompute is not None
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    model.save(tmp_path / "m.dlce")
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(x)[0], model(x)[0])
    model.save(tmp_path / "m.dlce", targets=["cpu"])
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(x)[0], model(x)[0])


def test_limits(model: dlc.CompiledModel, engine_file: Path) -> None:
    with pytest.raises(dlc.OutOfMemoryError, match="raise memory_limit"):
        dlc.load(engine_file, memory_limit="1K")(small_input(1000))
    for wrong in (0, -1, 1.5, True, 1 << 31):
        with pytest.raises(dlc.InvalidInputError, match="num_threads must be"):
            dlc.load(engine_file, wrong)  # type: ignore[arg-type]
    with pytest.raises(dlc.InvalidInputError, match="memory_limit is"):
        dlc.load(engine_file, memory_limit="many")


def test_profile_of_an_engine(tmp_path: Path) -> None:
    model = dlc.compile(mlp.build(widths=FEW), profile=True)
    model.save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    assert engine.profiled == model.profiled != ()
    library = dlc.runtime.library.load_library()  # type: ignore[attr-defined]
    library.profile_reset()
    engine(small_input(1))
    assert [calls for calls, _ in library.profile_rows()][1 : len(engine.profiled) + 1] == [1] * len(engine.profiled)


@pytest.mark.parametrize("builds", [2, pytest.param(9, marks=pytest.mark.slow)])
def test_builds_have_one_hash(tmp_path: Path, builds: int) -> None:
    """From other files, in other folders, and once more by another process."""
    hashes = set()
    for number in range(builds):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        onnx.save(mlp.build(widths=FEW), folder / "m.onnx")
        dlc.compile(folder / "m.onnx").save(folder / f"{number}.dlce")
        hashes.add(hashlib.sha256((folder / f"{number}.dlce").read_bytes()).hexdigest())
    code = "import dlc; dlc.compile('0/m.onnx').save('again.dlce')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=300)
    hashes.add(hashlib.sha256((tmp_path / "again.dlce").read_bytes()).hexdigest())
    assert len(hashes) == 1


def test_the_best_variant_is_chosen(tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    model = dlc.compile(mlp.build(widths=FEW), num_threads=1)
    targets = ["cpu:x86-64", "cpu:x86-64-v3", "cpu:sapphirerapids"]
    model.save(tmp_path / "m.dlce", targets=targets)
    monkeypatch.setenv("DLC_VERBOSE", "1")
    engine = dlc.load(tmp_path / "m.dlce")
    assert engine.target in targets
    assert f"the code for {engine.target} of 3 variants" in capfd.readouterr().err
    np.testing.assert_allclose(engine(small_input(1))[0], model(small_input(1))[0], rtol=1e-4, atol=1e-5)
    manifest = read_manifest((tmp_path / "m.dlce").read_bytes())
    assert [variant["target"] for variant in manifest["variants"]] == targets
    assert manifest["variants"][0]["features"] == ["sse", "sse2"]


def test_the_manifest_says_what_it_holds(model: dlc.CompiledModel, engine_file: Path) -> None:
    manifest = read_manifest(engine_file.read_bytes())
    assert manifest["dlc"] == dlc.__version__
    assert manifest["signature"]["inputs"][0]["shape"][1] == FEW[0]
    assert isinstance(manifest["signature"]["inputs"][0]["shape"][0], str)
    assert str(engine_file.parent) not in json.dumps(manifest)
    assert {each["dtype"] for each in manifest["variants"][0]["params"]} <= NUMPY_DTYPES.keys()


def test_models_without_one_code_are_refused(tmp_path: Path) -> None:
    node = onnx.helper.make_node("ReduceSum", ["x", "axes"], ["y"])
    values = [onnx.helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in (("x", 1, [2, 3]), ("axes", 7, [1]))]
    graph = onnx.helper.make_graph([node], "g", values, [onnx.helper.make_tensor_value_info("y", 1, None)])
    specialising = dlc.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]))
    with pytest.raises(dlc.InvalidInputError, match=r"code for each value of 'axes'.*; save the model of `specialize"):
        specialising.save(tmp_path / "m.dlce")
    given = np.ones((2, 3), np.float32)
    specialising.specialize(given, np.array([0])).save(tmp_path / "m.dlce")
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(given)[0], [[2, 2, 2]])


@pytest.mark.parametrize("dtype", list(NUMPY_DTYPES))
def test_every_element_type(tmp_path: Path, dtype: str) -> None:
    text = f"""
    func.func @main_graph(%x: tensor<2x3x{dtype}>) -> tensor<3x2x{dtype}> {{
      %0 = "dl.transpose"(%x) {{perm = array<i64: 1, 0>}} : (tensor<2x3x{dtype}>) -> tensor<3x2x{dtype}>
      return %0 : tensor<3x2x{dtype}>
    }}"""
    dlc.compile(text).save(tmp_path / "m.dlce")
    given = np.array([[1, 0, 1], [0, 0, 1]]).astype(NUMPY_DTYPES[dtype])
    (result,) = dlc.load(tmp_path / "m.dlce")(given)
    assert result.dtype == given.dtype
    np.testing.assert_array_equal(result.astype(np.float32), given.T.astype(np.float32))


def test_models_of_several_sizes_are_saved_version_by_version(tmp_path: Path) -> None:
    text = """
    func.func @main_graph(%x: tensor<?x4xf32> {dl.dims = ["n", ""]}) -> tensor<?x4xf32> {
      %0 = "dl.relu"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }"""
    model = dlc.compile(text, shapes={"n": [2, 3]})
    given = np.full((3, 4), -1, np.float32)
    with pytest.raises(
        dlc.InvalidInputError, match=r"code for each of several sizes, and an engine has one; save the model of `version"
    ):
        model.save(tmp_path / "m.dlce")
    (result,) = asyncio.run(model.run_async([given]))
    np.testing.assert_array_equal(result, np.zeros((3, 4), np.float32))
    model.version(given).save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    assert engine.inputs[0].shape == (3, 4)
    np.testing.assert_array_equal(engine(given)[0], result)


def test_models_of_the_host_are_refused(tmp_path: Path) -> None:
    node = onnx.helper.make_node("StringConcat", ["x", "x"], ["y"])
    infos = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.STRING, [2]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", infos[:1], infos[1:])
    hosted = dlc.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)]))
    with pytest.raises(dlc.InvalidInputError, match=r"runs ops on the host \(StringConcat\), which engines do not hold; cut"):
        hosted.save(tmp_path / "m.dlce")


class _Toy(dlc.Target):
    name = "toy"
    stages = ("dl",)
    forms = ("text",)

    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        return str(module).encode()

    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        raise dlc.TargetError("a toy runs nothing")


def test_targets_that_engines_do_not_hold(model: dlc.CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_PLUGINS", {})
    dlc.register_target(_Toy())
    for target, reason in (
        ("cpu:apple-m1", "engines hold code for Linux"),
        ("toy", "makes no engine files; name a CPU"),
    ):
        with pytest.raises(dlc.TargetError, match=reason):
            model.save(tmp_path / "m.dlce", targets=[target])
    assert not list(tmp_path.iterdir())


def test_an_engine_with_other_threads_shares_code_and_weights(tmp_path: Path) -> None:
    model = dlc.compile(mlp.build(widths=(512, 512, 512), dynamic_batch=True))
    model.save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce", num_threads=4)
    single = engine.with_threads(1)
    threads = {each._num_threads for each in (engine._session, single._session)}
    assert threads == {4, 1}
    assert all(
        mine.ctypes.data == other.ctypes.data
        for mine, other in zip(engine._session.bound_params, single._session.bound_params, strict=True)
    )
    for rows in (1, 7):
        inputs = [np.random.default_rng(rows).standard_normal((rows, 512)).astype(np.float32)]
        for result in (single(inputs), single.run_many([inputs])[0], engine(inputs)):
            np.testing.assert_array_equal(result[0], model(inputs)[0])
    with pytest.raises(dlc.InvalidInputError, match="num_threads must be"):
        engine.with_threads(0)
