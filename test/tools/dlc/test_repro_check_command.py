"""`dlc repro-check`: one hash of several builds, and what differs where there are more."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlc.tools.commands import repro_check_command
from dlc.tools.commands.repro_check_command import differences


def test_builds_have_one_hash(dlc_command, network: Path) -> None:
    done = dlc_command("repro-check", network, "--builds", 2)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 builds, 1 hash: ")


@pytest.mark.slow
def test_ten_builds_for_two_targets_have_one_hash(dlc_command, network: Path) -> None:
    done = dlc_command("repro-check", network, "--target", "cpu:haswell,cpu:x86-64")
    assert done.out.startswith("10 builds, 1 hash: ")


def test_what_differs_is_told(dlc_command, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    for target in ("cpu:haswell", "cpu:x86-64"):
        built.append(tmp_path / f"{target}.dlce")
        assert dlc_command("compile", network, "-o", built[-1], "--target", target).code == 0
    files = iter(built)
    monkeypatch.setattr(repro_check_command, "_built", lambda *_: next(files))
    done = dlc_command("repro-check", network, "--builds", 2)
    assert done.code == 1
    assert "2 builds, 2 hashes; builds 1 and 2 differ in " in done.out
    assert "variants.0.target" in done.out


def test_a_model_that_cannot_be_built(dlc_command, tmp_path: Path) -> None:
    done = dlc_command("repro-check", tmp_path / "none.onnx", "--builds", 2)
    assert done.code == 1
    assert "none.onnx" in done.err
    assert done.err.count("error: ") == 1


def test_differences() -> None:
    assert differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == ["a.1.b"]
    assert differences({"a": 1}, {"a": 1}) == []
    assert differences([1], [1, 2]) == [""]
