"""Where each figure of this machine comes from, for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass

from dlc.targets.cpu.calibration.row import load_row
from dlc.targets.cpu.host import detect_host, has_timing, processor_of
from dlc.targets.machine import Instruction, Instructions, Machine

MEASURED, ROW, SYSTEM, DEFAULT = "measured", "row", "system", "default"
_FROM_SYSTEM = ("bytes", "ways", "line", "shared_by")
_UNITS = {
    "cycles": "cycles",
    "latency": "cycles",
    "fork_cycles": "cycles",
    "bytes": "bytes",
    "line": "bytes",
    "page_bytes": "bytes",
    "bytes_per_cycle": "bytes a cycle",
    "total_bytes_per_cycle": "bytes a cycle",
    "busy_bytes_per_cycle": "bytes a cycle",
    "shared_by": "cores",
    "fma_ports": "a cycle",
}


@dataclass(frozen=True)
class OriginOfFigure:
    """A figure by its path in `Machine`, its unit, and what says it.

    `origin` is `measured` (by `dlc calibrate`), `row` (of the design, in the table), `system`, or `default`.
    """

    path: str
    value: float
    unit: str
    origin: str


def figures_of_host() -> list[OriginOfFigure]:
    """All figures of this machine, as compilations take them."""
    plain = detect_host()
    row = load_row(processor_of(plain))
    measured = set(row.used_for(plain)) if row else set()
    machine = row.applied_to(plain) if row else plain
    return [
        OriginOfFigure(path, value, _UNITS.get(path.split(".")[-1], ""), MEASURED if path in measured else _origin(path, plain))
        for path, value in _figures(machine)
    ]


def _figures(machine: Machine) -> Iterator[tuple[str, float]]:
    for name, value in vars(machine).items():
        if isinstance(value, Instructions):
            for each in vars(value):
                timing = machine.instruction(each)
                yield f"{name}.{each}.latency", timing.latency
                yield f"{name}.{each}.cycles", timing.cycles
        elif is_dataclass(value):
            yield from ((f"{name}.{member}", number) for member, number in vars(value).items() if number)
        elif isinstance(value, int | float):
            yield name, value


def _origin(path: str, plain: Machine) -> str:
    """What says a figure that was not measured."""
    first, last = path.split(".")[0], path.split(".")[-1]
    if first == "instructions":
        stated: Instruction = getattr(plain.instructions, path.split(".")[1])
        return ROW if getattr(stated, last) else DEFAULT
    if first == "cores" or (first in ("l1", "l2", "l3") and last in _FROM_SYSTEM):
        return SYSTEM
    return ROW if has_timing() and first not in ("fork_cycles", "fma_ports") else DEFAULT
