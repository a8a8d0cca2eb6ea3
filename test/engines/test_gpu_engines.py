"""Engines for GPUs: what they hold, which variant runs where, and that results are the compiled model's. The GPU is a fake one."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_models import FEW, small_input, with_manifest
from fake_cuda import FakeGpu

import dlc
from bench.networks import mlp
from dlc.engines.saving import read_manifest
from dlc.engines.variants import build_variants
from dlc.runtime.device_array import DeviceArray
from dlc.runtime.engine import _Options
from dlc.runtime.library import load_library
from dlc.sources import read_source
from dlc.targets.gpu import kernel_forms
from dlc.targets.gpu.ptxas import find_ptxas, release_of

TARGETS = ["gpu:sm_80", "gpu:sm_90", "cpu:x86-64"]
CUDA_13 = 13000
"""The version of a driver that runs cubins of all assemblers so far."""
x = small_input()


def _form_of_cuda_12() -> str:
    """What a driver of CUDA 12.0 loads of a cubin and PTX: the former, if the assembler here is of CUDA 12."""
    program = find_ptxas()
    return "cubin" if program is not None and release_of(program).driver == 12000 else "ptx"


needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs NVIDIA's ptxas")


@pytest.fixture(autouse=True)
def _as_it_was(gpu: FakeGpu) -> Iterator[None]:
    gpu.configure()
    yield
    gpu.configure()


def test_results_are_those_of_the_compiled_model(gpu: FakeGpu, alone: Path, expected: np.ndarray) -> None:
    engine = dlc.load(alone)
    for _ in range(4):
        np.testing.assert_array_equal(engine(x)[0], expected)
    given = np.empty_like(expected)
    assert engine.run({"x": x}, [given])[0] is given
    np.testing.assert_array_equal(given, expected)
    assert all(np.array_equal(each[0], expected) for each in engine.run_many([x, [x]]))
    np.testing.assert_array_equal(asyncio.run(engine.run_async([x]))[0], expected)
    assert gpu.calls("cuGraphLaunch") > 0, "calls of sizes that came before are one launch"


def test_arrays_stay_on_the_gpu_and_outlive_the_engine(gpu: FakeGpu, alone: Path, expected: np.ndarray) -> None:
    gc.collect()
    live, engine = gpu.live(), dlc.load(alone)
    (result,) = engine(engine.on_device(x))
    assert isinstance(result, DeviceArray)
    del engine
    gc.collect()
    np.testing.assert_array_equal(result.numpy(), expected)
    del result
    gc.collect()
    assert gpu.live() == live, "the engine leaves something on the GPU"


def test_weights_are_copied_once(gpu: FakeGpu, alone: Path) -> None:
    engine = dlc.load(alone)
    engine(x)
    copies = gpu.calls("cuMemcpyHtoDAsync_v2")
    engine(x)
    assert gpu.calls("cuMemcpyHtoDAsync_v2") == copies + 1, "a call copies its input alone"


@needs_ptxas
@pytest.mark.parametrize(
    ("capability", "driver", "target", "form"),
    [
        ((8, 0), CUDA_13, "gpu:sm_80", "cubin for sm_80"),
        ((8, 6), CUDA_13, "gpu:sm_80", "cubin for sm_80"),
        ((9, 0), CUDA_13, "gpu:sm_90", "cubin for sm_90"),
        ((9, 0), 12000, "gpu:sm_90", f"{_form_of_cuda_12()} for sm_90"),
        ((9, 0), 11080, "gpu:sm_80", "ptx for sm_80"),
        ((10, 0), CUDA_13, "gpu:sm_90", "ptx for sm_90"),
        ((7, 5), CUDA_13, "cpu:x86-64", "gpu:sm_80, which needs compute capability 8.0, and Fake GPU has 7.5"),
        ((9, 0), 10020, "cpu:x86-64", "gpu:sm_80, which needs a driver of CUDA 11.0, and that of Fake GPU knows 10.2: update it"),
    ],
)
def test_the_device_chooses(
    gpu: FakeGpu,
    several: Path,
    expected: np.ndarray,
    capfd: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    capability: tuple[int, int],
    driver: int,
    target: str,
    form: str,
) -> None:
    monkeypatch.setenv("DLC_VERBOSE", "1")
    gpu.configure(capability=capability, driver=driver)
    engine = dlc.load(several)
    said = capfd.readouterr().err
    assert engine.target == target
    assert f"the code for {target} of 3 variants" in said and form in said
    np.testing.assert_allclose(engine(x)[0], expected, rtol=1e-5, atol=1e-6)


def test_a_machine_without_a_gpu(several: Path, alone: Path, expected: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CUDA_LIBRARY", "no-such-driver.so")
    engine = dlc.load(several)
    assert engine.target == "cpu:x86-64"
    np.testing.assert_allclose(engine(x)[0], expected, rtol=1e-5, atol=1e-6)
    missing = "code for gpu:sm_90, which needs a GPU: there is no driver of NVIDIA's: no-such-driver.so cannot be loaded"
    with pytest.raises(dlc.TargetError, match=rf"{missing}; .* one file runs with a GPU and without"):
        dlc.load(alone)


def test_engines_for_processors_look_for_no_gpu(gpu: FakeGpu, on_gpu: dlc.CompiledModel, tmp_path: Path) -> None:
    on_gpu.save(tmp_path / "m.dlce", targets=["cpu:x86-64"])
    before = gpu.calls("cuInit")
    dlc.load(tmp_path / "m.dlce")(x)
    assert gpu.calls("cuInit") == before
    assert "gpu" not in read_manifest((tmp_path / "m.dlce").read_bytes())["variants"][0]


def test_the_manifest_says_what_the_kernels_are(several: Path) -> None:
    first, second, third = read_manifest(several.read_bytes())["variants"]
    assert "cuda" in first["features"] and "avx512f" not in first["features"], "the host's part is for this machine alone"
    assert "gpu" not in third and "cuda" not in third["features"]
    *_, text = second["gpu"]["kernels"]
    assert (text["form"], text["chip"], text["ptx"], text["cuda"], text["assembler"]) == ("ptx", "sm_90", 80, 12000, "")
    content = several.read_bytes()[text["offset"] : text["offset"] + text["size"]]
    assert content.startswith(b"//") or content.lstrip().startswith(b".version")
    assert hashlib.sha256(content).hexdigest() == text["sha256"]


@needs_ptxas
def test_cubins_name_their_assembler(several: Path) -> None:
    cubin = read_manifest(several.read_bytes())["variants"][1]["gpu"]["kernels"][0]
    assert cubin["form"] == "cubin" and cubin["assembler"].startswith("ptxas ") and cubin["cuda"] % 1000 == 0


def test_without_an_assembler_kernels_are_ptx(
    gpu: FakeGpu, on_gpu: dlc.CompiledModel, expected: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_forms, "find_ptxas", lambda: None)
    on_gpu.save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    assert [each["form"] for each in engine.manifest["variants"][0]["gpu"]["kernels"]] == ["ptx"]
    np.testing.assert_array_equal(engine(x)[0], expected)


def test_code_for_one_gpu_alone(alone: Path, gpu: FakeGpu) -> None:
    """`sm_90a`, as of kernels with `wgmma`: no later GPU runs it, not even its PTX."""

    def of_wgmma(manifest: dict[str, Any]) -> None:
        for each in manifest["variants"][0]["gpu"]["kernels"]:
            each["chip"] = "sm_90a"

    changed = with_manifest(alone.read_bytes(), of_wgmma)
    dlc.load(changed)
    gpu.configure(capability=(10, 0), driver=CUDA_13)
    with pytest.raises(dlc.TargetError, match=r"is for sm_90a alone, and Fake GPU has compute capability 10\.0"):
        dlc.load(changed)


def test_builds_are_equal(on_gpu: dlc.CompiledModel, several: Path, tmp_path: Path) -> None:
    on_gpu.save(tmp_path / "m.dlce", targets=TARGETS)
    assert (tmp_path / "m.dlce").read_bytes() == several.read_bytes()


_CHAIN = """
func.func @main(%x: tensor<?x6xf32> {dl.name = "x", dl.dims = ["n", ""]}, %i: tensor<1x6xi64>, %u: tensor<1x6xf32>)
    -> tensor<?x6xf32> {
  %0 = "dl.softmax"(%x) {axis = 1 : i64} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %1 = "dl.scatter_elements"(%0, %i, %u) {axis = 0 : i64} : (tensor<?x6xf32>, tensor<1x6xi64>, tensor<1x6xf32>) -> tensor<?x6xf32>
  %2 = "dl.exp"(%1) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return %2 : tensor<?x6xf32>
}
"""


def test_kernels_are_those_of_the_compiled_model(gpu: FakeGpu, tmp_path: Path) -> None:
    """The processor beside the GPU, that of the engine or this one, decides nothing of them, and its own part does the rest."""
    model, file = dlc.compile(_CHAIN, "gpu:sm_90", cache=False), tmp_path / "m.dlce"
    model.save(file, targets=["gpu:sm_90"])
    part = read_manifest(file.read_bytes())["variants"][0]["gpu"]["kernels"][-1]
    assert file.read_bytes()[part["offset"] : part["offset"] + part["size"]] == model._code.objects[-1]
    given = [np.random.default_rng(4).standard_normal((5, 6)).astype(np.float32), np.array([[4, 0, 1, 2, 3, 0]])]
    given.append(np.ones((1, 6), np.float32))
    np.testing.assert_allclose(dlc.load(file)(*given)[0], model(*given)[0], rtol=1e-6)


def test_processors_of_another_architecture(tmp_path: Path) -> None:
    text = 'module attributes {dlc.target = {arch = "riscv64"}} {' + _CHAIN + "}"
    source = read_source(text)
    with pytest.raises(dlc.TargetError, match="the host's part of code for a GPU cannot be compiled for riscv64"):
        build_variants(source, dlc.CompileOptions(), ["gpu:sm_90"])


def test_separate_weights(on_gpu: dlc.CompiledModel, expected: np.ndarray, tmp_path: Path) -> None:
    on_gpu.save(tmp_path / "m.dlce", separate_weights=True)
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(x)[0], expected)


def test_profiles(gpu: FakeGpu, tmp_path: Path) -> None:
    model = dlc.compile(mlp.build(widths=FEW, dynamic_batch=True), "gpu:sm_90", profile=True, cache=False)
    model.save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    assert engine.profiled == model.profiled != ()
    library = load_library()
    library.profile_reset()
    engine(x)
    assert sum(calls for calls, _ in library.profile_rows()[1:]) >= len(engine.profiled)


class _Tensor(ctypes.Structure):
    """`dlc_tensor`."""

    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("rank", ctypes.c_int64), ("sizes", ctypes.c_int64 * 32))


def _tensor(array: np.ndarray, sizes: Sequence[int]) -> _Tensor:
    return _Tensor(array.ctypes.data, array.nbytes, array.ndim, (ctypes.c_int64 * 32)(*sizes))


def test_the_c_interface(gpu: FakeGpu, alone: Path, expected: np.ndarray) -> None:
    """What C programs call: weights are on the GPU once, and go with the engine."""
    gc.collect()
    live, library, address = gpu.live(), load_library(), ctypes.c_void_p()
    pointer, status = ctypes.c_void_p, ctypes.c_int32
    load = library.function("dlc_engine_load", [ctypes.c_char_p, pointer, pointer], status)
    run = library.function("dlc_engine_run", [pointer, pointer, ctypes.c_int64, pointer, ctypes.c_int64], status)
    options = _Options(ctypes.sizeof(_Options), 1, 0, None, 1)
    assert load(bytes(alone), ctypes.byref(options), ctypes.byref(address)) == 0
    result = np.zeros_like(expected)
    given, wanted = _tensor(x, x.shape), _tensor(result, result.shape)
    for _ in range(3):
        result[:] = 0
        assert run(address, ctypes.byref(given), 1, ctypes.byref(wanted), 1) == 0, gpu.error or library.last_error()
        np.testing.assert_array_equal(result, expected)
    library.function("dlc_engine_free", [pointer], None)(address)
    assert gpu.live() == live
