"""One small model and its engine for all tests of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_models import small_model

import dlc


@pytest.fixture(scope="session")
def model() -> dlc.CompiledModel:
    return small_model()


@pytest.fixture(scope="session")
def engine_file(model: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("engine") / "small.dlce"
    model.save(file)
    return file
