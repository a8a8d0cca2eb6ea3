"""Measures this machine, and makes a row of what is sure."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.targets.cpu.calibration.checks import require_sense, unsure
from dlc.targets.cpu.calibration.measure import DEFAULT_SECONDS, Measured, Progress, measure
from dlc.targets.cpu.calibration.row import CalibratedRow
from dlc.targets.cpu.host import detect_host, processor_of

_STEP = 0.05
"""Figures of instructions are multiples of this, so that two measurements give the same row, and the same keys of compiled code."""
_DIGITS = 2
"""Significant digits of the others."""


@dataclass(frozen=True)
class Calibration:
    """A row, and the paths of figures that it lacks because their samples differed too much."""

    row: CalibratedRow
    left_out: tuple[str, ...]


def calibrate(seconds: float = DEFAULT_SECONDS, progress: Progress | None = None) -> Calibration:
    """Measure this machine, about `seconds` a figure. `TargetError` where it is too busy for figures that make sense."""
    machine = detect_host()
    measured = measure(machine, seconds, progress)
    require_sense(measured)
    left_out = unsure(measured)
    figures = {path: _rounded(path, figure.value) for path, figure in measured.figures.items() if path not in left_out}
    return Calibration(CalibratedRow(processor_of(machine), machine.cores, _clock_of(measured), figures), tuple(left_out))


def _clock_of(measured: Measured) -> float:
    return round(measured.clock_ghz, _DIGITS)


def _rounded(path: str, value: float) -> float:
    if path.startswith("instructions."):
        return round(max(1, round(value / _STEP)) * _STEP, _DIGITS)
    return float(f"{value:.{_DIGITS}g}")
