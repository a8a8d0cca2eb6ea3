"""A model's code in this process: the host's part linked, and its kernels on the GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from dlc.errors import TargetError
from dlc.lowering.gpu_to_llvm.runtime_calls import MODEL
from dlc.runtime.gpu_model import GpuModel, device_facts
from dlc.targets.gpu.device import refusal_of_code


class LoadedCode:
    """Addresses of the host's functions, and the model on the GPU that they work for. It stays as long as this object lives."""

    def __init__(self, host: Sequence[bytes], ptx: bytes, functions: Sequence[str]) -> None:
        from dlc.targets.cpu.link import LinkedCode  # a second LLVM, for what runs only

        reason = refusal_of_code(device_facts(), ptx)
        if reason:
            raise TargetError(f"this machine's GPU cannot run the model: {reason}")
        self.model = GpuModel.load(ptx)
        self._linked = LinkedCode(host, [*functions, MODEL])
        ctypes.c_int64.from_address(self._linked.address(MODEL)).value = self.model.address
        self.addresses = [self._linked.address(function) for function in functions]
