"""Whole networks give what onnxruntime gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from model_sizes import NETWORKS, QUICK_LIGHT, SLOW_LIGHT, check

import dlc
from bench.networks import light

LIGHT = [*QUICK_LIGHT, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_LIGHT)]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", NETWORKS)
def test_network(name: str, batch: int) -> None:
    model = NETWORKS[name](batch=batch)
    check(dlc.compile(model), model)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", NETWORKS)
def test_dynamic_batch(name: str) -> None:
    model = NETWORKS[name](dynamic_batch=True)
    compiled = dlc.compile(model)
    for batch in (1, 2, 5):
        check(compiled, model, batch)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", light.names())
def test_light_network_with_package_weights(name: str, batch: int) -> None:
    model = light.rebatch(light.load(name), batch)
    check(dlc.compile(model), model)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("name", LIGHT)
def test_light_network_with_seeded_weights(name: str) -> None:
    model = light.seeded(light.load(name))
    check(dlc.compile(model), model)


@pytest.mark.slow
@pytest.mark.parametrize("name", light.names())
def test_light_network_with_seeded_weights_in_a_batch(name: str) -> None:
    model = light.rebatch(light.seeded(light.load(name)), 3)
    check(dlc.compile(model), model)


def run_command(model: onnx.ModelProto, folder: Path, *arguments: str) -> str:
    """What `dlc run --check=onnxruntime` prints for the model as a file."""
    onnx.save(model, folder / "model.onnx")
    command = [Path(sys.executable).with_name("dlc"), "run", "model.onnx", "--check=onnxruntime", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("name", NETWORKS)
def test_command_line(name: str, tmp_path: Path) -> None:
    assert "ok" in run_command(NETWORKS[name](), tmp_path)


def test_command_line_with_dynamic_batch(tmp_path: Path) -> None:
    assert "[3, 32, 101]" in run_command(NETWORKS["gpt2"](dynamic_batch=True), tmp_path, "--dim", "batch=3")


@pytest.mark.slow
@pytest.mark.parametrize("name", light.names())
def test_command_line_on_light_network(name: str, tmp_path: Path) -> None:
    assert "ok" in run_command(light.load(name), tmp_path)
