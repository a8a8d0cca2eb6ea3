"""The GPU of this machine: which row of the table it is, and whether it runs code for another."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dlc.errors import TargetError
from dlc.runtime.gpu_model import DeviceFacts, device_facts
from dlc.targets.gpu.known_gpus import KNOWN_GPUS, capability_of
from dlc.targets.machine import GpuMachine

_BYTE_BITS, _DATA_RATE = 8, 2
"""A bus of memory moves data at both edges of its clock (CUDA C++ Best Practices Guide, "Theoretical Bandwidth Calculation")."""
_HEADER = re.compile(rb"^\.version\s+(\d+)\.(\d+)\s*^\.target\s+sm_(\d+)(a?)", re.MULTILINE)
_CUDA_OF_PTX = {70: 110, 71: 111, 72: 112, 73: 113, 74: 114, 75: 115, 76: 116, 77: 117, 78: 118, 85: 125, 86: 127, 87: 128, 88: 129}
"""The first CUDA, times ten, whose driver takes a version of PTX, times ten (PTX ISA, "Release Notes"); 8.x for others is 12.x."""


def find_device() -> DeviceFacts | None:
    """The GPU of this machine; None where there is none, or no driver."""
    try:
        return device_facts()
    except TargetError:
        return None


def machine_of(device: DeviceFacts) -> GpuMachine:
    """The machine that code for a device is made for: its own figures beside the limits of its compute capability's row."""
    rows = [row for row in KNOWN_GPUS.values() if capability_of(row) <= device.capability]
    row = max(rows, key=capability_of, default=GpuMachine())
    figures: dict[str, object] = {}
    if device.multiprocessors > 0 and device.clock_khz > 0:
        figures = {"multiprocessors": device.multiprocessors, "clock_mhz": device.clock_khz // 1000}
        moved = _DATA_RATE * device.memory_clock_khz * device.memory_bus_bits / _BYTE_BITS / device.clock_khz
        figures |= {"memory_bytes_per_cycle": float(round(moved))} if moved >= 1 else {}
        figures |= {"l2_bytes": device.l2_bytes} if device.l2_bytes > 0 else {}
    return row.override(**figures)


def refusal(device: DeviceFacts, capability: int, ptx: int) -> str:
    """Why a device does not run PTX of a version, times ten, for a compute capability; empty where it does."""
    if device.capability < capability:
        return f"the code is for compute capability {_dotted(capability)}, and {device.name} has {_dotted(device.capability)}"
    needed = cuda_of_ptx(ptx)
    if device.driver < needed:
        known = f"the driver of {device.name} knows CUDA {device.shown_driver}"
        return f"{known}, and PTX {_dotted(ptx)} takes CUDA {_dotted(needed // 100)}; update it"
    return ""


def refusal_of_code(device: DeviceFacts, ptx: bytes) -> str:
    """Why a device does not run a text of PTX; empty where it does, or the text says nothing of it."""
    header = header_of(ptx)
    if header is None:
        return ""
    if header.is_exact and device.capability != header.capability:
        return f"the code is for {header.chip} alone, and {device.name} is another GPU"
    return refusal(device, header.capability, header.version)


@dataclass(frozen=True)
class PtxHeader:
    """What a text of PTX is for: its version, times ten, the compute capability (90 for 9.0), and whether no other GPU runs it."""

    version: int
    capability: int
    is_exact: bool

    @property
    def chip(self) -> str:
        """The GPU as PTX names it."""
        return f"sm_{self.capability}{'a' if self.is_exact else ''}"


def header_of(ptx: bytes) -> PtxHeader | None:
    """What a text of PTX says of itself; None where it says nothing."""
    found = _HEADER.search(ptx)
    return found and PtxHeader(10 * int(found[1]) + int(found[2]), int(found[3]), bool(found[4]))


def cuda_of_ptx(version: int) -> int:
    """The first CUDA whose driver takes a version of PTX, as the driver gives its own: 12000 for PTX 8.0, which is given as 80."""
    return 100 * _CUDA_OF_PTX.get(version, version + 40)


def _dotted(number: int) -> str:
    return f"{number // 10}.{number % 10}"
