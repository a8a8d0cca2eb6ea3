"""The example's model as native code, made once for all tests of the folder."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from native_models import example_model

from dlc.tools.commands.compile_command import command


@pytest.fixture(scope="session")
def native_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mlp.onnx, libmlp.a, libmlp.so, mlp.h and the program mlp."""
    folder = tmp_path_factory.mktemp("native")
    onnx.save(example_model(), folder / "mlp.onnx")
    for form, file in (("static-lib", "libmlp.a"), ("lib", "libmlp.so"), ("exe", "mlp")):
        command.main([str(folder / "mlp.onnx"), f"--emit={form}", "-o", str(folder / file)], standalone_mode=False)
    return folder
