"""The GPU of this machine: which row of the table it is, and whether it runs code for another."""

from __future__ import annotations

import re

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
    needed = _CUDA_OF_PTX.get(ptx, ptx + 40)
    if device.driver < 100 * needed:
        known = f"the driver of {device.name} knows CUDA {device.shown_driver}"
        return f"{known}, and PTX {_dotted(ptx)} takes CUDA {_dotted(needed)}; update it"
    return ""


def refusal_of_code(device: DeviceFacts, ptx: bytes) -> str:
    """Why a device does not run a text of PTX; empty where it does, or the text says nothing of it."""
    found = _HEADER.search(ptx)
    if found is None:
        return ""
    capability = int(found[3])
    if found[4] and device.capability != capability:
        return f"the code is for sm_{capability}a alone, and {device.name} is another GPU"
    return refusal(device, capability, 10 * int(found[1]) + int(found[2]))


def _dotted(number: int) -> str:
    return f"{number // 10}.{number % 10}"
