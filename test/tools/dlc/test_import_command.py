"""`dlc import`: modules, the weights beside them, and what happens when those are moved or missing."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest

import dlc
from dlc.sources import read_source


def test_text_on_standard_output_refers_to_the_model(dlc_command, network: Path, tmp_path: Path) -> None:
    done = dlc_command("import", network)
    assert done.code == 0
    assert done.err == ""
    assert f'dl.params = "{network}"' in done.out
    assert 'loc("product")' in done.out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = elsewhere / "model.mlir"
    file.write_text(done.out)
    assert set(read_source(file).params) == set(dlc.import_onnx(network).params)


def test_weights_go_beside_the_module_and_move_with_it(dlc_command, network: Path, tmp_path: Path) -> None:
    done = dlc_command("import", network, "-o", tmp_path / "model.v1.mlir")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert 'dl.params = "model.v1.safetensors"' in (tmp_path / "model.v1.mlir").read_text()
    moved = tmp_path / "moved"
    moved.mkdir()
    for file in tmp_path.glob("model.v1.*"):
        file.rename(moved / file.name)
    network.unlink()
    assert dlc_command("run", moved / "model.v1.mlir", "--check=reference").code == 0


def test_missing_weights_are_one_error(dlc_command, network: Path, tmp_path: Path) -> None:
    dlc_command("import", network, "-o", tmp_path / "model.mlir")
    (tmp_path / "model.safetensors").unlink()
    done = dlc_command("run", tmp_path / "model.mlir")
    assert done.code == 1
    assert re.fullmatch(r".*model\.safetensors: error: the module's weights .* put the file back.*\n", done.err)


def test_broken_weights_are_one_error(dlc_command, network: Path, tmp_path: Path) -> None:
    dlc_command("import", network, "-o", tmp_path / "model.mlir")
    (tmp_path / "model.safetensors").write_bytes(b"no table")
    done = dlc_command("run", tmp_path / "model.mlir")
    assert done.code == 1
    assert re.fullmatch(r".*model\.safetensors: error: not a safetensors file: .*\n", done.err)


def test_weights_of_another_shape_are_one_error(dlc_command, network: Path, tmp_path: Path) -> None:
    dlc_command("import", network, "-o", tmp_path / "model.mlir")
    table = {key: np.zeros(3, np.float32) for key in dlc.load_params(tmp_path / "model.safetensors")}
    dlc.save_params(tmp_path / "model.safetensors", table)
    done = dlc_command("run", tmp_path / "model.mlir")
    assert done.code == 1
    assert "expects f32[" in done.err
    assert "Traceback" not in done.err


def test_shape_override(dlc_command, network: Path) -> None:
    for shape in ("x=3x16", "x=3,16"):
        assert "%arg0: tensor<3x16xf32>" in dlc_command("import", network, "--shape", shape).out
    assert 'dl.dims = ["rows", ""]' in dlc_command("import", network, "--shape", "x=rows,16").out


@pytest.mark.parametrize("shape", ["x", "=3x16", "x=3xx16", "x=3x-1"])
def test_shape_that_cannot_be_read(dlc_command, network: Path, shape: str) -> None:
    done = dlc_command("import", network, f"--shape={shape}")
    assert done.code == 1
    assert f"expects NAME=1x3x224x224 but got '{shape}'" in done.err


def test_file_names_tell_nothing(dlc_command, network: Path, tmp_path: Path) -> None:
    """Text, bytecode and ONNX are told apart by their content where the suffix does not."""
    network.rename(tmp_path / "network")
    assert dlc_command("import", tmp_path / "network", "-o", tmp_path / "module.txt").code == 0
    assert dlc_command("run", tmp_path / "module.txt").code == 0


def test_an_external_weight_is_kept(dlc_command, network: Path, tmp_path: Path) -> None:
    model = onnx.load(network)
    onnx.save(model, tmp_path / "external.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert dlc_command("run", tmp_path / "external.onnx", "--check=onnxruntime").code == 0
