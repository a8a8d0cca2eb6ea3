"""`nvdisasm`, NVIDIA's disassembler: the machine instructions (SASS) of a cubin as text. It needs no GPU.

The extra `dlc[ptxas]` installs it (the wheel `nvidia-cuda-nvdisasm`); that of a CUDA toolkit on the PATH serves, too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from dlc.errors import TargetError
from dlc.targets.gpu.nvidia_tools import find_tool, refusal_of, run_tool


def find_nvdisasm() -> Path | None:
    """The disassembler that is installed."""
    return find_tool("nvdisasm")


def disassemble(cubin: bytes) -> bytes:
    """The instructions of a cubin's kernels. `TargetError` where there is no disassembler, or it refuses the cubin."""
    program = find_nvdisasm()
    if program is None:
        raise TargetError("sass takes NVIDIA's nvdisasm, which is not installed; pip install 'dlc[ptxas]', or write cubin")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernels.cubin")
        file.write_bytes(cubin)
        done = run_tool(program, ["--print-code", str(file)], "cubin")
    if done.returncode:
        raise TargetError(f"nvdisasm refuses the kernels: {refusal_of(done)}; report this model, or write cubin")
    return done.stdout.encode()
