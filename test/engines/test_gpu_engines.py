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
from engine_mutations import check_mutations, check_signed_mutations
from fake_cuda import FakeGpu, fake_gpu
from test_signatures import write_keys

import dlc
from bench.networks import mlp
from dlc.engines.saving import read_manifest
from dlc.runtime.device_array import DeviceArray
from dlc.runtime.engine import _Options
from dlc.runtime.library import load_library
from dlc.targets.gpu import kernel_forms
from dlc.targets.gpu.ptxas import find_ptxas

TARGETS = ["gpu:sm_80", "gpu:sm_90", "cpu:x86-64"]
CUDA_13 = 13000
"""The version of a driver that runs cubins of all assemblers so far."""
x = small_input()
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs NVIDIA's ptxas")


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


@pytest.fixture(autouse=True)
def _as_it_was(gpu: FakeGpu) -> Iterator[None]:
    gpu.configure()
    yield
    gpu.configure()


@pytest.fixture(scope="module")
def on_gpu(gpu: FakeGpu) -> dlc.CompiledModel:
    return dlc.compile(mlp.build(widths=FEW, dynamic_batch=True), "gpu:sm_90", num_threads=1, cache=False)


@pytest.fixture(scope="module")
def expected(on_gpu: dlc.CompiledModel) -> np.ndarray:
    return on_gpu(x)[0]


@pytest.fixture(scope="module")
def several(on_gpu: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Code for `TARGETS`."""
    file = tmp_path_factory.mktemp("gpu") / "several.dlce"
    on_gpu.save(file, targets=TARGETS)
    return file


@pytest.fixture(scope="module")
def alone(on_gpu: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code that the compiled model runs."""
    file = tmp_path_factory.mktemp("gpu") / "alone.dlce"
    on_gpu.save(file)
    return file


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
        ((9, 0), 12000, "gpu:sm_90", "ptx for sm_90"),
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


@pytest.mark.parametrize("function", ["cuModuleLoadDataEx", "cuMemAlloc_v2"])
def test_what_the_driver_refuses(gpu: FakeGpu, alone: Path, expected: np.ndarray, function: str) -> None:
    gpu.fail(function, 2)
    with pytest.raises((dlc.TargetError, dlc.OutOfMemoryError), match=r"out of memory|no memory"):
        dlc.load(alone)(x)
    gpu.configure()
    np.testing.assert_array_equal(dlc.load(alone)(x)[0], expected)


def _on_gpu(**changes: object) -> Any:
    return lambda manifest: manifest["variants"][0]["gpu"].update(changes)


def _of_kernels(**changes: object) -> Any:
    return lambda manifest: [each.update(changes) for each in manifest["variants"][0]["gpu"]["kernels"]]


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (_on_gpu(model=0), "where there is no variable"),
        (_on_gpu(model=1 << 40), "where there is no variable"),
        (_on_gpu(model=-8), "negative 'model'"),
        (_on_gpu(kernels=[]), "code for a GPU without kernels"),
        (_on_gpu(kernels={}), "no proper 'kernels'"),
        (_of_kernels(chip="sm_9x"), "kernels for 'sm_9x', which is no GPU"),
        (_of_kernels(chip="sm_"), "kernels for 'sm_', which is no GPU"),
        (_of_kernels(chip="gfx90a"), "which is no GPU"),
        (_of_kernels(form="spirv"), "the form 'spirv', which this runtime does not know"),
        (_of_kernels(size=1 << 40), "the kernels end at byte"),
        (_of_kernels(size=0), "kernels of no bytes"),
        (_of_kernels(offset=4097), "impossible place"),
        (_of_kernels(cuda="new"), "no proper 'cuda'"),
        (_of_kernels(crc32c=1), "its kernels are damaged: the checksum is wrong"),
        (lambda manifest: manifest["variants"][0].update(gpu=3), "no proper 'kernels'"),
        (lambda manifest: manifest["variants"][0].pop("gpu"), "which needs cuda"),
    ],
)
def test_lying_manifests(alone: Path, lie: Any, message: str) -> None:
    with pytest.raises((dlc.RuntimeLoadError, dlc.TargetError), match=message):
        dlc.load(with_manifest(alone.read_bytes(), lie))


def test_damaged_kernels(alone: Path, gpu: FakeGpu) -> None:
    content = bytearray(alone.read_bytes())
    gpu.configure(driver=CUDA_13)
    part = read_manifest(bytes(content))["variants"][0]["gpu"]["kernels"][0]
    content[part["offset"] + part["size"] // 2] ^= 1
    with pytest.raises(dlc.RuntimeLoadError, match="its kernels are damaged: the checksum is wrong"):
        dlc.load(bytes(content))


def test_mutations(alone: Path) -> None:
    assert check_mutations(alone.read_bytes(), 200, seed=5) > 100


@pytest.mark.slow
def test_many_mutations(several: Path) -> None:
    assert check_mutations(several.read_bytes(), 5_000, seed=6) > 2_500


def test_signed_mutations(alone: Path) -> None:
    check_signed_mutations(alone.read_bytes(), 200, seed=7)


def test_kernels_are_signed(gpu: FakeGpu, on_gpu: dlc.CompiledModel, expected: np.ndarray, tmp_path: Path) -> None:
    """Nothing is given to the driver before the signature was checked."""
    private, public = write_keys(tmp_path, 1)
    on_gpu.save(tmp_path / "m.dlce", sign_key=private)
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce", verify_key=public)(x)[0], expected)
    content = bytearray((tmp_path / "m.dlce").read_bytes())
    for part in read_manifest(bytes(content))["variants"][0]["gpu"]["kernels"]:
        content[part["offset"] + part["size"] // 2] ^= 1
        loads = gpu.calls("cuModuleLoadDataEx")
        with pytest.raises(dlc.RuntimeLoadError, match=r"damaged|its kernels for gpu:sm_90 have another SHA-256"):
            dlc.load(bytes(content), verify_key=public)
        assert gpu.calls("cuModuleLoadDataEx") == loads


def test_builds_are_equal(on_gpu: dlc.CompiledModel, several: Path, tmp_path: Path) -> None:
    on_gpu.save(tmp_path / "m.dlce", targets=TARGETS)
    assert (tmp_path / "m.dlce").read_bytes() == several.read_bytes()


def test_profiles(gpu: FakeGpu, tmp_path: Path) -> None:
    model = dlc.compile(mlp.build(widths=FEW, dynamic_batch=True), "gpu", profile=True, cache=False)
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
        assert run(address, ctypes.byref(given), 1, ctypes.byref(wanted), 1) == 0, library.last_error()
        np.testing.assert_array_equal(result, expected)
    library.function("dlc_engine_free", [pointer], None)(address)
    assert gpu.live() == live
