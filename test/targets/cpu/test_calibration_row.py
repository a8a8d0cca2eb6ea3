"""A row of measured figures is kept, used, part of the keys of compiled code, and refused where it is not of this machine."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlc.errors import TargetError
from dlc.targets.cpu.calibration.origins import figures_of_host
from dlc.targets.cpu.calibration.row import CalibratedRow, CalibrationWarning, load_row, remove_row, row_file, save_row
from dlc.targets.cpu.host import calibrated_host, detect_host, processor_of
from dlc.targets.cpu.host_key import host_key
from dlc.targets.machine import Machine, host_facts


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of its own, and nothing remembered of the machine before and after."""
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path / "cache"))
    host_facts.cache_clear()
    host_key.cache_clear()
    yield tmp_path / "cache"
    host_facts.cache_clear()
    host_key.cache_clear()


def row_of_host(cores: int | None = None, processor: str | None = None, **figures: float) -> CalibratedRow:
    host = detect_host()
    named = {path.replace("__", "."): value for path, value in figures.items()}
    return CalibratedRow(processor or processor_of(host), cores or host.cores, 3.5, named)


def test_row_is_kept_and_used() -> None:
    assert calibrated_host() == detect_host()
    row = row_of_host(instructions__dot_bf16__cycles=7.5, l2__latency=16.0, fma_ports=3.0)
    assert save_row(row) == row_file()
    assert load_row(row.processor) == row
    found = calibrated_host()
    assert (found.cycles("dot_bf16"), found.l2.latency, found.fma_ports, found.prefers_bf16_dot) == (7.5, 16.0, 3, False)
    assert found.l2.bytes == detect_host().l2.bytes
    assert remove_row()
    assert not remove_row()
    assert calibrated_host() == detect_host()


def test_keys_of_code_depend_on_the_row() -> None:
    before = host_key()
    save_row(row_of_host(memory__latency=123.0))
    host_facts.cache_clear()
    host_key.cache_clear()
    assert host_key() != before
    assert "123.0" in host_key()


def test_figures_of_all_cores_hold_for_as_many() -> None:
    plain = detect_host()
    save_row(row_of_host(cores=plain.cores + 1, fork_cycles=1.0, memory__total_bytes_per_cycle=2.0, memory__latency=3.0))
    found = calibrated_host()
    assert (found.fork_cycles, found.memory.total_bytes_per_cycle) == (plain.fork_cycles, plain.memory.total_bytes_per_cycle)
    assert found.memory.latency == 3.0


def test_origins_of_figures() -> None:
    save_row(row_of_host(instructions__add_f32__cycles=0.75))
    found = {figure.path: figure for figure in figures_of_host()}
    assert (found["instructions.add_f32.cycles"].value, found["instructions.add_f32.cycles"].origin) == (0.75, "measured")
    assert found["l1.bytes"].origin == "system"
    assert found["fork_cycles"].origin == "default"
    assert {figure.origin for figure in found.values()} <= {"measured", "row", "system", "default"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 0}, "it has format 0, and this version reads 1"),
        ({"processor": "x86_64 GenuineIntel 6 85"}, "it is of 'x86_64 GenuineIntel 6 85', and this machine is"),
        ({"figures": {"l4.latency": 3.0}}, "'l4' is no part of a machine"),
        ({"figures": {"l1.colour": 3.0}}, "'colour' is no figure of a machine"),
        ({"figures": {"l1.latency": -1.0}}, "'l1.latency' is -1.0"),
        ({"figures": {"l1.latency": float("nan")}}, "'l1.latency' is nan"),
        ({"figures": [1]}, "it is damaged"),
        ({"cores": None}, "it is damaged"),
    ],
)
def test_row_that_does_not_fit_is_one_warning(folder: Path, change: dict[str, object], reason: str) -> None:
    text = save_row(row_of_host(l1__latency=4.0)).read_text("utf-8")
    (folder / "machine.json").write_text(json.dumps(json.loads(text) | change), "utf-8")
    refused(reason)


def test_row_that_cannot_be_read_is_one_warning(folder: Path) -> None:
    folder.mkdir()
    (folder / "machine.json").write_bytes(b"{\xff")
    refused("it is damaged")
    (folder / "machine.json").write_text("[]")
    refused("it is damaged")
    (folder / "machine.json").unlink()
    (folder / "machine.json").mkdir()
    refused("cannot read the calibrated row")


def refused(reason: str) -> None:
    """The host is as without a row, and says why once, with a remedy."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert calibrated_host() == detect_host()
    (warning,) = caught
    assert warning.category is CalibrationWarning
    assert reason in str(warning.message)
    assert "run dlc calibrate" in str(warning.message)


def test_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    assert row_file() is None
    assert load_row("any") is None
    assert not remove_row()
    with pytest.raises(TargetError, match="DLC_CACHE_DIR is empty; set it to a folder, or name a file with --json"):
        save_row(row_of_host())


def test_row_applies_to_any_machine() -> None:
    row = CalibratedRow("some", 1, 2.0, {"instructions.fma_f32.latency": 4.5, "tlb.entries": 12.4})
    found = CalibratedRow.of_json(row.to_json()).applied_to(Machine())
    assert (found.instruction("fma_f32").latency, found.tlb.entries) == (4.5, 12)
