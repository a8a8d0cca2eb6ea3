"""Engines for GPUs that are damaged or lie, and what the driver refuses: one clear error each. The GPU is a fake one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_models import small_input, with_manifest
from engine_mutations import check_mutations, check_signed_mutations
from fake_cuda import FakeGpu
from test_signatures import write_keys

import dlc
from dlc.engines.saving import read_manifest
from dlc.targets.gpu.ptxas import find_ptxas

CUDA_13 = 13000
"""The version of a driver that runs cubins of all assemblers so far."""
x = small_input()


@pytest.fixture(autouse=True)
def _as_it_was(gpu: FakeGpu) -> Iterator[None]:
    gpu.configure()
    yield
    gpu.configure()


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("function", ["cuModuleLoadDataEx", "cuMemAlloc_v2"])
def test_what_the_driver_refuses(gpu: FakeGpu, alone: Path, expected: np.ndarray, function: str) -> None:
    gpu.fail(function, 2)
    with pytest.raises((dlc.TargetError, dlc.OutOfMemoryError), match=r"out of memory|no memory"):
        dlc.load(alone)(x)
    gpu.configure()
    np.testing.assert_array_equal(dlc.load(alone)(x)[0], expected)


_LOAD = "cuModuleLoadDataEx"
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs NVIDIA's ptxas")


@needs_ptxas
@pytest.mark.parametrize("status", [200, 209, 218])
def test_a_refused_cubin_is_replaced_by_ptx(
    gpu: FakeGpu,
    alone: Path,
    expected: np.ndarray,
    status: int,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The driver has the last word on what runs: a cubin that should, by capability and version, may be none for it."""
    monkeypatch.setenv("DLC_VERBOSE", "1")
    gpu.configure(driver=CUDA_13)
    gpu.fail(_LOAD, status)
    np.testing.assert_array_equal(dlc.load(alone)(x)[0], expected)
    said = capfd.readouterr().err
    assert "its kernels as cubin for sm_90" in said
    assert "its kernels as ptx for sm_90, since the driver refuses others: as cubin, the GPU cannot load the code" in said
    assert gpu.calls(_LOAD) == 2


@needs_ptxas
def test_all_forms_are_refused(gpu: FakeGpu, alone: Path) -> None:
    gpu.configure(driver=CUDA_13)
    gpu.fail(_LOAD, 209, times=2)
    refused = "the GPU cannot load the code"
    with pytest.raises(dlc.TargetError, match=rf"cannot be loaded: as cubin, {refused}: .*; as ptx, {refused}: ") as error:
        dlc.load(alone)(x)
    assert "\n" not in str(error.value) and gpu.calls(_LOAD) == 2


@needs_ptxas
def test_other_errors_try_no_other_form(gpu: FakeGpu, alone: Path) -> None:
    gpu.configure(driver=CUDA_13)
    gpu.fail(_LOAD, 2)
    with pytest.raises((dlc.TargetError, dlc.OutOfMemoryError), match="as cubin, the GPU cannot load the code"):
        dlc.load(alone)(x)
    assert gpu.calls(_LOAD) == 1


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
