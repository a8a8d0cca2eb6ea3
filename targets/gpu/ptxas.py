"""`ptxas`, NVIDIA's assembler: PTX to a cubin, and what each kernel takes of a multiprocessor. It needs no GPU.

The extra `dlc[ptxas]` installs it (the wheel `nvidia-cuda-nvcc-cu12`); that of a CUDA toolkit on the PATH serves, too.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dlc.errors import TargetError
from dlc.targets.gpu.nvidia_tools import find_tool, refusal_of, run_tool

_TARGET = re.compile(rb"^\.target\s+([\w.]+)", re.MULTILINE)
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_RELEASE = re.compile(r"V((\d+)[\d.]*)")
_MAJOR = 1000
"""What a driver counts for a major version of CUDA: 12040 is 12.4."""
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class KernelUsage:
    """What one kernel takes: registers and bytes of stack of a thread, bytes of instructions that spill, bytes of shared memory."""

    name: str
    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int

    @property
    def spills(self) -> bool:
        """Whether registers do not suffice."""
        return bool(self.spill_store_bytes or self.spill_load_bytes)


@dataclass(frozen=True)
class Release:
    """A version of CUDA by `name` (`13.0.88`); `driver` is the first whose driver runs its cubins, as the driver gives its own."""

    name: str
    driver: int


@dataclass(frozen=True)
class Assembly:
    """A cubin, and the usage of its kernels by name."""

    cubin: bytes
    usage: dict[str, KernelUsage]


def find_ptxas() -> Path | None:
    """The assembler that is installed."""
    return find_tool("ptxas")


def release_of(program: Path) -> Release:
    """The version of an assembler. Drivers run cubins of all CUDA with their major number ("CUDA Minor Version Compatibility").

    `TargetError` where it tells none.
    """
    found = _RELEASE.search(run_tool(program, ["--version"], "ptx").stdout)
    if found is None:
        raise TargetError(f"{program} tells no version; pip install --force-reinstall 'dlc[ptxas]', or write ptx")
    return Release(found[1], _MAJOR * int(found[2]))


def assemble(ptx: bytes) -> Assembly:
    """The kernels of `ptx` for the GPU that it names. `TargetError` where there is no assembler, or it refuses the text."""
    program, chip = find_ptxas(), _TARGET.search(ptx)
    if program is None:
        raise TargetError("a cubin takes NVIDIA's ptxas, which is not installed; pip install 'dlc[ptxas]', or write ptx")
    if chip is None:
        raise TargetError("the text names no GPU; write PTX with gpu-module-to-ptx")
    with tempfile.TemporaryDirectory() as folder:
        text, cubin = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
        text.write_bytes(ptx)
        done = run_tool(program, ["-v", f"-arch={chip[1].decode()}", str(text), "-o", str(cubin)], "ptx")
        if done.returncode:
            raise TargetError(f"ptxas refuses the kernels: {refusal_of(done)}; report this model, or write ptx")
        return Assembly(cubin.read_bytes(), {usage.name: usage for usage in usages_of(done.stderr + done.stdout)})


def usages_of(log: str) -> Iterator[KernelUsage]:
    """The kernels that the output of `ptxas -v` tells of."""
    starts = list(_ENTRY.finditer(log))
    for start, end in zip(starts, [*(one.start() for one in starts), len(log)][1:], strict=True):
        part = log[start.end() : end]
        frame, used, shared = _FRAME.search(part), _USED.search(part), _SHARED.search(part)
        stack, stores, loads = map(int, frame.groups()) if frame else (0, 0, 0)
        yield KernelUsage(start[1], int(used[1]) if used else 0, stack, stores, loads, int(shared[1]) if shared else 0)
