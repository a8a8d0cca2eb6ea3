"""One small model and its engine for all tests of the folder, and the same for a fake GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from engine_models import FEW, small_input, small_model
from fake_cuda import FakeGpu, fake_gpu

import dlc
from bench.networks import mlp


@pytest.fixture(scope="session")
def model() -> dlc.CompiledModel:
    return small_model()


@pytest.fixture(scope="session")
def engine_file(model: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("engine") / "small.dlce"
    model.save(file)
    return file


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


@pytest.fixture(scope="module")
def on_gpu(gpu: FakeGpu) -> dlc.CompiledModel:
    return dlc.compile(mlp.build(widths=FEW, dynamic_batch=True), "gpu:sm_90", num_threads=1, cache=False)


@pytest.fixture(scope="module")
def expected(on_gpu: dlc.CompiledModel) -> np.ndarray:
    return on_gpu(small_input())[0]


@pytest.fixture(scope="module")
def several(on_gpu: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Code for two GPUs and a processor."""
    file = tmp_path_factory.mktemp("gpu") / "several.dlce"
    on_gpu.save(file, targets=["gpu:sm_80", "gpu:sm_90", "cpu:x86-64"])
    return file


@pytest.fixture(scope="module")
def alone(on_gpu: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code that the compiled model on the GPU runs."""
    file = tmp_path_factory.mktemp("gpu") / "alone.dlce"
    on_gpu.save(file)
    return file
