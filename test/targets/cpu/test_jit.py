"""Modules at the linalg level run as NumPy says, give memory of their own and leak none of it."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from jit_models import MODELS, Model

from dlc._mlir import ir
from dlc.errors import InvalidInputError, TargetError
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.library import load_library
from dlc.runtime.session import Session
from dlc.targets.cpu.jit import build_session
from dlc.targets.signature import signature_of

WEIGHTED = """
module attributes {dl.signature = {entry = "f", inputs = [{name = "x", type = tensor<?x8xf32>}],
    outputs = [{name = "y", type = tensor<?x5xf32>}], params = [{name = "w", type = tensor<8x5xf32>}]}} {
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x5xf32>) -> tensor<?x5xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x5xf32>) outs(%i : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}}
"""


def session_of(text: str, **options: object) -> Session:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        Pipeline.parse("linalg-to-affine,affine-to-llvm").run(module)
        return build_session(module, signature_of(module), **{"params": {}} | options)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_results_are_right_and_own_their_memory(model: Model) -> None:
    session = session_of(model.text())
    gc.collect()  # what other tests left in cycles
    before = load_library().memory_live()
    kept = [array.copy() for array in model.arrays]
    results = session(*model.arrays)
    for result, wanted in zip(results, model.expected(*kept), strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_allclose(result.astype(np.float64), np.asarray(wanted, np.float64), rtol=1e-5)
    for array, copy in zip(model.arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    for position, result in enumerate(results):
        assert result.flags.writeable
        others = [*model.arrays, *results[:position]]
        assert not any(np.shares_memory(result, other) for other in others)
    del result, results, others
    gc.collect()
    assert load_library().memory_live() == before


def test_results_outlive_the_session() -> None:
    weights = np.ones((8, 5), np.float32)
    (result,) = session_of(WEIGHTED, params={"w": weights})(np.ones((3, 8), np.float32))
    gc.collect()
    np.testing.assert_array_equal(result[1:], np.full((2, 5), 8, np.float32))


def test_repeated_calls_keep_memory_and_results() -> None:
    random = np.random.default_rng(0)
    weights = random.standard_normal((8, 5), np.float32)
    session = session_of(WEIGHTED, params={"w": weights})
    x = random.standard_normal((7, 8), np.float32)
    (first,) = session(x)
    live = load_library().memory_live()
    for rows in (7, 1, 0, 7) * 25:
        (again,) = session(x[:rows])
        np.testing.assert_array_equal(again, first[:rows])
    del again
    assert load_library().memory_live() == live


def test_threads_call_one_session() -> None:
    weights = np.eye(8, 5, dtype=np.float32)
    session = session_of(WEIGHTED, params={"w": weights}, num_threads=1)
    faults: list[int] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(100):
            x = random.standard_normal((seed + 1, 8), np.float32)
            if not np.array_equal(session(x)[0], x[:, :5]):
                faults.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_missing_and_unfit_params_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="missing 'w'"):
        session_of(WEIGHTED)
    with pytest.raises(InvalidInputError, match=r"'w' expects f32\[8, 5\] but got f32\[5, 8\]"):
        session_of(WEIGHTED, params={"w": np.zeros((5, 8), np.float32)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() { return }", "needs ops of llvm, found 'func.func'; run convert-affine-to-llvm first"),
        ("llvm.func @f() { gpu.barrier llvm.return }", "needs ops of llvm, found 'gpu.barrier'"),
        ("llvm.func @f(%n: i64) { llvm.alloca %n x memref<4xf32> : (i64) -> !llvm.ptr llvm.return }", "LLVM has no type memref"),
        ("llvm.func @nowhere()\nllvm.func @f() { llvm.call @nowhere() : () -> () llvm.return }", "symbols: nowhere"),
        ("llvm.func @f() { llvm.return }", "function 'f' has no C interface"),
    ],
)
def test_modules_that_cannot_be_compiled(text: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(MODELS[0].text())
        signature = signature_of(module)
        with pytest.raises(TargetError, match=message):
            build_session(ir.Module.parse(text), signature, {})
    assert capfd.readouterr().err == ""


def test_f64_rounds_once_to_halves() -> None:
    body = """
  %d = arith.constant 0 : index
  %n = tensor.dim %0, %d : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%0 : tensor<?xf64>) outs(%e : tensor<?xf16>) {
  ^bb0(%a: f64, %b: f16):
    %r = arith.truncf %a : f64 to f16
    linalg.yield %r : f16
  } -> tensor<?xf16>
  return %y : tensor<?xf16>"""
    exact = np.arange(1, 0x7C00, 7, dtype=np.uint16).view(np.float16).astype(np.float64)
    halfway = (exact[:-1] + exact[1:]) / 2
    x = np.concatenate([exact, halfway, np.nextafter(halfway, np.inf), np.nextafter(halfway, 0), [np.inf, 1e9, 1e-9]])
    x = np.concatenate([x, -x])
    session = session_of(Model("round", ("tensor<?xf64>",), ("tensor<?xf16>",), body, [], lambda: []).text())
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(session(x)[0], x.astype(np.float16))


def test_threads_of_one_call_change_nothing() -> None:
    size = 192
    kind = f"tensor<?x{size}xf32>"
    body = f"""
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %0, %c0 : {kind}
  %e = tensor.empty(%n) : {kind}
  %i = linalg.fill ins(%z : f32) outs(%e : {kind}) -> {kind}
  %m = linalg.matmul ins(%0, %1 : {kind}, tensor<{size}x{size}xf32>) outs(%i : {kind}) -> {kind}
  %y = linalg.exp ins(%m : {kind}) outs(%e : {kind}) -> {kind}
  return %y : {kind}"""
    text = Model("mm", (kind, f"tensor<{size}x{size}xf32>"), (kind,), body, [], lambda: []).text()
    random = np.random.default_rng(0)
    x, w = random.standard_normal((201, size), np.float32) / size, random.standard_normal((size, size), np.float32)
    sessions = [session_of(text, num_threads=count) for count in (1, 2, 5, None)]
    (alone,) = sessions[0](x, w)
    np.testing.assert_allclose(alone, np.exp(x @ w), rtol=1e-5)
    for session in sessions[1:]:
        for rows in (201, 1, 0, 33):
            np.testing.assert_array_equal(session(x[:rows], w)[0], alone[:rows])
