"""`--schedule` and `--emit=schedule`: what one command writes, the others obey."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import dlc


def test_a_written_schedule_changes_nothing(dlc_command, network: Path, tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    assert dlc_command("compile", network, "--emit=schedule", "-o", file).code == 0
    assert json.loads(file.read_text())
    plain = dlc_command("compile", network, "--emit=llvm")
    assert dlc_command("compile", network, "--emit=llvm", f"--schedule={file}").out == plain.out


def test_a_changed_schedule_changes_the_code(dlc_command, network: Path, tmp_path: Path) -> None:
    table = dlc.schedules_of(network).to_json()
    name, number = next(
        (name, number) for name, nests in table.items() for number in nests if nests[number]["code_generator"] != "generic"
    )
    file = tmp_path / "schedules.json"
    file.write_text(json.dumps({name: {number: {"code_generator": "generic"}}}))
    plain = dlc_command("compile", network, "--emit=llvm")
    assert dlc_command("compile", network, "--emit=llvm", f"--schedule={file}").out != plain.out
    assert dlc_command("run", network, f"--schedule={file}", "--check=reference").code == 0
    x = np.random.default_rng(0).standard_normal((3, 16)).astype(np.float32)
    np.testing.assert_allclose(dlc.compile(network, schedule=file)(x)[0], dlc.compile(network)(x)[0], rtol=1e-5, atol=1e-6)


def test_levels_above_the_choice_refuse_schedules(dlc_command, network: Path, tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    file.write_text("{}")
    done = dlc_command("compile", network, "--emit=linalg", f"--schedule={file}")
    assert done.code == 1
    assert "which is not on the way to 'linalg'" in done.err


def test_a_missing_file_is_named(dlc_command, network: Path) -> None:
    done = dlc_command("run", network, "--schedule=none.json")
    assert done.code == 1
    assert "none.json: error: cannot read the schedules: No such file" in done.err


def test_measuring_gives_the_same_result(dlc_command, network: Path) -> None:
    assert dlc_command("run", network, "--measure", "--check=reference").code == 0


def test_schedules_are_verified(dlc_command, network: Path) -> None:
    """What is proved is told on standard error; steps of a file count."""
    for command in (("compile", network, "--emit=llvm"), ("run", network)):
        done = dlc_command(*command, "--verify-schedules")
        assert done.code == 0
        assert "kernels are proved" in done.err
