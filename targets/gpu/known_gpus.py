"""GPUs by name: rows of a table, so that code for one can be made on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dlc.targets.machine import GpuMachine


@dataclass(frozen=True)
class Row:
    """NVIDIA's GPUs of one compute capability (CUDA C++ Programming Guide, technical specifications per compute capability).

    `ptx` is the version of PTX, times ten, that code is written in; `multiprocessors` are those of a typical part, each of which
    holds `threads`.
    """

    ptx: int
    multiprocessors: int
    threads: int


KNOWN_GPUS: Mapping[str, Row] = {
    "sm_70": Row(60, 80, 2048),
    "sm_75": Row(63, 40, 1024),
    "sm_80": Row(70, 108, 2048),
    "sm_86": Row(71, 84, 1536),
    "sm_89": Row(78, 128, 1536),
    "sm_90": Row(80, 132, 2048),
}
"""By LLVM's name of the compute capability."""


def known_gpu(name: str) -> GpuMachine | None:
    """The GPU called `sm_90`; None for a name that no row has."""
    row = KNOWN_GPUS.get(name)
    if row is None:
        return None
    return GpuMachine(chip=name, ptx=row.ptx, multiprocessors=row.multiprocessors, threads_per_multiprocessor=row.threads)
