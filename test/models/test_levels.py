"""The text of a network at any level is a model of its own: it parses, verifies, prints as it is and compiles on."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from model_sizes import NETWORKS

import dlc
from bench.networks import light
from dlc.lowering.pipelines import STAGES
from dlc.tools.dlc import cli
from dlc.tools.opt_driver import OptDriver
from dlc.tools.opt_options import parse_arguments

LIGHT = "light_"
MODELS = [*NETWORKS, *(pytest.param(f"{LIGHT}{name}", marks=pytest.mark.slow) for name in light.names())]


def build(name: str) -> onnx.ModelProto:
    return NETWORKS[name]() if name in NETWORKS else light.seeded(light.load(name.removeprefix(LIGHT)))


@lru_cache(maxsize=1)
def direct_results(name: str) -> list[np.ndarray]:
    """Results of the network compiled in one go."""
    compiled = dlc.compile(build(name))
    return compiled(dlc.random_inputs(compiled.inputs))


def emit(model: onnx.ModelProto, level: str, folder: Path) -> Path:
    """The file that `dlc compile --emit` writes."""
    onnx.save(model, folder / "model.onnx")
    output = folder / "emitted.mlir"
    arguments = ["compile", str(folder / "model.onnx"), f"--emit={level}", "-o", str(output)]
    CliRunner().invoke(cli, arguments, catch_exceptions=False)
    return output


def dlc_opt(data: bytes, *arguments: str) -> bytes:
    """What dlc-opt prints for the input."""
    driver = OptDriver(parse_arguments(arguments), data)
    output = driver.run()
    assert not driver.failed
    return output


def check_level(name: str, level: str, folder: Path) -> None:
    file = emit(build(name), level, folder)
    text = file.read_bytes()
    assert dlc_opt(text, "--mlir-print-debuginfo").rstrip() == text.rstrip()
    plain = dlc_opt(text)
    assert dlc_opt(plain) == plain
    compiled = dlc.compile(file)
    results = compiled(dlc.random_inputs(compiled.inputs))
    for have, want in zip(results, direct_results(name), strict=True):
        np.testing.assert_array_equal(have, want)


@pytest.mark.sweep(every=24)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("level", STAGES)
def test_level(name: str, level: str, tmp_path: Path) -> None:
    check_level(name, level, tmp_path)
