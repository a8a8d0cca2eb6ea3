"""The kernels of a model in the forms that an engine file holds: a cubin where NVIDIA's assembler is installed, and PTX.

A cubin needs no compiler in the driver, and runs on GPUs of one major compute capability; PTX runs on later ones, too.
"""

from __future__ import annotations

from dlc.errors import TargetError
from dlc.targets.engine_code import KernelForm
from dlc.targets.gpu.device import cuda_of_ptx, header_of
from dlc.targets.gpu.ptxas import assemble, find_ptxas, release_of


def kernel_forms(ptx: bytes) -> tuple[KernelForm, ...]:
    """The forms of kernels in PTX, the one to be preferred first. `TargetError` where the assembler refuses them."""
    header = header_of(ptx)
    if header is None:
        raise TargetError("the text names no GPU; write PTX with gpu-module-to-ptx")
    text = KernelForm("ptx", header.chip, header.version, cuda_of_ptx(header.version), "", ptx)
    program = find_ptxas()
    if program is None:
        return (text,)
    release = release_of(program)
    return KernelForm("cubin", header.chip, header.version, release.driver, f"ptxas {release.name}", assemble(ptx).cubin), text
