"""What `dlc calibrate` has measured of this machine, as a file beside the cache of compiled code.

{"format": 1, "processor": "...", "cores": 2, "clock_ghz": 3.7, "figures": {"instructions.fma_f32.cycles": 1.0, ...}}

Figures are members of `Machine` by their path. A row of another processor or format is no row.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

from dlc.errors import TargetError
from dlc.partial_files import note_partial
from dlc.targets.cache_folder import cache_folder
from dlc.targets.machine import Machine

FORMAT = 1
"""Grows when the meaning of a figure changes."""
_NAME = "machine.json"
_OF_ALL_CORES = ("fork_cycles", "memory.total_bytes_per_cycle")
"""Figures that hold for as many cores as were measured."""
NO_PLACE = "there is no place for what is measured: DLC_CACHE_DIR is empty; set it to a folder, or name a file with --json"
_REMEDY = "run dlc calibrate to measure again, or dlc calibrate --reset to remove it"


class CalibrationWarning(UserWarning):
    """A row of measured figures cannot be used; the machine has the figures of its design, or defaults."""


@dataclass(frozen=True)
class CalibratedRow:
    """Measured figures of `processor` by their path in `Machine`, with `cores` cores in use; cycles are those of `clock_ghz`."""

    processor: str
    cores: int
    clock_ghz: float
    figures: Mapping[str, float]

    def applied_to(self, machine: Machine) -> Machine:
        """`machine` with these figures; `TargetError` for a path that it has not."""
        found: Any = machine
        for path in self.used_for(machine):
            found = with_figure(found, path.split("."), self.figures[path])
        return found

    def used_for(self, machine: Machine) -> list[str]:
        """The paths of the figures that hold for `machine`."""
        return [path for path in self.figures if self.cores == machine.cores or path not in _OF_ALL_CORES]

    def to_json(self) -> str:
        record = {"format": FORMAT, "processor": self.processor, "cores": self.cores, "clock_ghz": self.clock_ghz}
        return json.dumps(record | {"figures": dict(self.figures)}, indent=2) + "\n"

    @classmethod
    def of_json(cls, text: str) -> CalibratedRow:
        """The row that `to_json` wrote; `TargetError` for anything else."""
        try:
            record = json.loads(text)
            if record["format"] != FORMAT:
                raise TargetError(f"it has format {record['format']}, and this version reads {FORMAT}")
            figures = {str(path): float(value) for path, value in record["figures"].items()}
            row = cls(str(record["processor"]), int(record["cores"]), float(record["clock_ghz"]), figures)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TargetError("it is damaged") from None
        wrong = next((path for path, value in figures.items() if not (math.isfinite(value) and value > 0)), None)
        if wrong is not None:
            raise TargetError(f"'{wrong}' is {figures[wrong]}")
        row.applied_to(Machine())
        return row


def with_figure(record: Any, path: list[str], value: float) -> Any:
    """`record` with one member, by the names that lead to it; whole numbers are rounded."""
    name, *rest = path
    inner = getattr(record, name, None) if name in vars(record) else None
    if rest:
        if not is_dataclass(inner):
            raise TargetError(f"'{name}' is no part of a machine")
        return replace(record, **{name: with_figure(inner, rest, value)})
    if not isinstance(inner, int | float):
        raise TargetError(f"'{name}' is no figure of a machine")
    return replace(record, **{name: max(1, round(value)) if isinstance(inner, int) else value})


def row_file() -> Path | None:
    """Where the row lies; None where the environment turns the cache off."""
    folder = cache_folder()
    return None if folder is None else folder / _NAME


def load_row(processor: str) -> CalibratedRow | None:
    """The row of `processor`; None where there is none, and with one warning where what is there cannot be used."""
    file = row_file()
    try:
        text = file.read_text(encoding="utf-8") if file else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        warnings.warn(f"cannot read the calibrated row '{file}': {reason}; {_REMEDY}", CalibrationWarning, 2)
        return None
    if text is None:
        return None
    try:
        row = CalibratedRow.of_json(text)
        if row.processor != processor:
            raise TargetError(f"it is of '{row.processor}', and this machine is '{processor}'")
    except TargetError as error:
        warnings.warn(f"ignoring the calibrated row '{file}': {error}; {_REMEDY}", CalibrationWarning, 2)
        return None
    return row


def save_row(row: CalibratedRow) -> Path:
    """Keep `row` for compilations to come; returns its file. `OSError` where it cannot be written, `TargetError` without one."""
    file = row_file()
    if file is None:
        raise TargetError(NO_PLACE)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = file.with_name(f"tmp-{os.getpid()}-{_NAME}")
    note_partial(temporary)
    try:
        temporary.write_text(row.to_json(), encoding="utf-8")
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return file


def remove_row() -> bool:
    """Remove the row; whether there was one. `OSError` where that is refused."""
    file = row_file()
    if file is None or not file.exists():
        return False
    file.unlink()
    return True
