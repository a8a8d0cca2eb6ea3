"""`dlc calibrate`: measures, shows, removes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dlc.targets.cpu.calibration import calibrate as calibrating
from dlc.targets.cpu.calibration.calibrate import Calibration
from dlc.targets.cpu.calibration.row import CalibratedRow
from dlc.targets.cpu.host import detect_host, processor_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> CalibratedRow:
    """Nothing is measured; two figures come out, and one is unsure."""
    host = detect_host()
    row = CalibratedRow(processor_of(host), host.cores, 3.5, {"instructions.add_f32.cycles": 0.75, "l2.latency": 17.0})
    monkeypatch.setattr(calibrating, "calibrate", lambda seconds, progress: Calibration(row, ("memory.latency",)))
    return row


def test_row_is_kept_shown_and_removed(dlc_command, folder: Path, quick: CalibratedRow) -> None:
    done = dlc_command("calibrate")
    assert done.code == 0
    assert "warning: samples of memory.latency differ too much" in done.err
    assert done.out.count("measured") == 2
    assert f"3.5 GHz; kept in {folder / 'machine.json'}\n" in done.out
    assert CalibratedRow.of_json((folder / "machine.json").read_text("utf-8")) == quick

    lines = dlc_command("calibrate", "--show").out.splitlines()
    assert any("l2.latency" in line and "17" in line and "measured" in line for line in lines)
    assert any("l2.bytes " in line and "system" in line for line in lines)

    assert dlc_command("calibrate", "--reset").out == f"removed '{folder / 'machine.json'}'\n"
    assert dlc_command("calibrate", "--reset").out == "there was nothing to remove\n"
    assert "measured" not in dlc_command("calibrate", "--show").out


def test_json(dlc_command, folder: Path, quick: CalibratedRow) -> None:
    assert json.loads(dlc_command("calibrate", "--json", "-").out)["figures"] == quick.figures
    assert dlc_command("calibrate", "--json", folder / "row.json").code == 0
    assert CalibratedRow.of_json((folder / "row.json").read_text("utf-8")) == quick
    assert not (folder / "machine.json").exists()


def test_measures_or_says_why_not(dlc_command, folder: Path) -> None:
    """So short samples on a shared machine may contradict each other, which is an error without a row."""
    done = dlc_command("calibrate", "--seconds", "0.001", "--json", "-")
    if done.code == 0:
        assert json.loads(done.out)["processor"] == processor_of(detect_host())
    else:
        assert "end what else is running and measure again" in done.err


def test_errors(dlc_command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--show, --reset and measuring exclude each other; name one" in dlc_command("calibrate", "--show", "--reset").err
    assert dlc_command("calibrate", "--json", folder / "none" / "row.json").code != 0
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    done = dlc_command("calibrate")
    assert (done.code, done.out) == (1, "")
    assert "error: there is no place for what is measured: DLC_CACHE_DIR is empty" in done.err


def test_row_of_another_machine_is_one_line(folder: Path) -> None:
    (folder / "machine.json").write_text(CalibratedRow("another", 1, 2.0, {"l1.latency": 5.0}).to_json(), "utf-8")
    text, command = "module {}", [Path(sys.executable).parent / "dlc-opt", "--dl-set-target"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: ignoring the calibrated row")
    assert "dlc.target = " in done.stdout
