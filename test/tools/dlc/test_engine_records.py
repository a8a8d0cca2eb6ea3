"""`--keep` of `dlc compile`, and the commands that read what an engine keeps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from bench.networks import mlp

TARGETS = "cpu:x86-64-v3,cpu:neoverse-n1"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("network") / "net.onnx"
    onnx.save(mlp.build(widths=(12, 16, 5)), file)
    return file


@pytest.fixture
def engine(dlc_command, network: Path, tmp_path: Path) -> Path:
    file = tmp_path / "m.dlce"
    done = dlc_command("compile", network, "-o", file, "--keep=ir", "--keep=explain", "--target", TARGETS)
    assert (done.code, done.err) == (0, "")
    return file


def without_times(text: str) -> dict:
    found = json.loads(text)
    for each in found["passes"]:
        del each["seconds"]
    return found


def test_explain_shows_what_is_kept(dlc_command, network: Path, engine: Path) -> None:
    for target in TARGETS.split(","):
        of_model, of_engine = (dlc_command("explain", file, "--json", "--target", target) for file in (network, engine))
        assert (of_engine.code, of_engine.err) == (0, "")
        assert without_times(of_engine.out) == without_times(of_model.out)
    tables = dlc_command("explain", engine).out
    assert "Passes" in tables and "calls of" in tables
    assert dlc_command("explain", engine, "--emit", "dot").out.startswith("digraph")


def test_what_is_kept_compiles_on(dlc_command, engine: Path, tmp_path: Path) -> None:
    text = dlc_command("compile", engine, "--emit=dl").out
    assert '"dl.param"' in text
    assert dlc_command("compile", engine, "-o", tmp_path / "again.dlce", "--target", "cpu:x86-64-v2").code == 0
    for name in ("m", "again"):
        assert dlc_command("run", tmp_path / f"{name}.dlce", "--output", f"logits={tmp_path / name}.npy").code == 0
    have, want = (np.load(tmp_path / f"{name}.npy") for name in ("again", "m"))
    np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--shape", "x=2x12"], "an engine is compiled already, and takes no --shape"),
        (["--target", "cpu:haswell"], "the engine keeps no 'explain' for 'cpu:haswell'; it does for cpu:x86-64-v3"),
    ],
)
def test_explain_refuses_what_an_engine_has_not(dlc_command, engine: Path, arguments: list[str], said: str) -> None:
    done = dlc_command("explain", engine, *arguments)
    assert done.code == 1
    assert f"{engine}: error: {said}" in done.err


@pytest.mark.parametrize("form", ["obj", "lib", "dl"])
def test_only_engines_keep_records(dlc_command, network: Path, form: str) -> None:
    done = dlc_command("compile", network, f"--emit={form}", "--keep=ir")
    assert done.code == 1
    assert "only engines keep it; write one with -o FILE.dlce" in done.err
