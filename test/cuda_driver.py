"""Launches kernels from PTX by NVIDIA's driver, for tests on machines that have one.

The host's part of a program runs as Python (`gpu_interpreter.py`); each launch copies its arrays to the GPU and back.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc._mlir import gpu, ir
from dlc.analysis.symbols import symbol_name

_PARAMETERS = re.compile(r"\.entry (\w+)\(([^)]*)\)")


def missing() -> str:
    """Why no kernel can run here; empty where one can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no driver of NVIDIA's"
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return "the driver finds no GPU"
    return ""


def ptx_of(module: ir.Module) -> dict[str, bytes]:
    """The PTX in the `gpu.binary` ops of `module`, by name."""
    found = {}
    for op in module.body.operations:
        if op.operation.name == "gpu.binary":
            (single,) = ir.ArrayAttr(op.attributes["objects"])
            found[ir.StringAttr(op.attributes["sym_name"]).value] = bytes(gpu.ObjectAttr(single).object)
    return found


def kernels_of(module: ir.Module) -> dict[str, str]:
    """By the names that `gpu_interpreter.py` gives the kernels of a module at level gpu: the `gpu.module`, which has one each."""
    found = {}
    for outer in [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]:
        for kernel in [op.operation for op in outer.regions[0].blocks[0].operations if op.operation.name == "gpu.func"]:
            found[f"{symbol_name(outer)}_{symbol_name(kernel)}"] = symbol_name(outer)
    return found


class Device:
    """The first GPU, with the kernels of some PTX; `kernels` says in which of the `ptx` each is."""

    def __init__(self, ptx: Mapping[str, bytes], kernels: Mapping[str, str]) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self._call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self.functions = {kernel: self._load(ptx[module]) for kernel, module in kernels.items()}

    def _load(self, text: bytes) -> tuple[ctypes.c_void_p, int]:
        """The kernel of a text, and how many parameters it has."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(text))
        ((entry, parameters),) = _PARAMETERS.findall(text.decode())
        self._call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        return function, parameters.count(".param")

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.driver, name)(*arguments)
        assert status == 0, f"{name} gives {status}"

    def launch(
        self, kernel: str, grid: Sequence[int], size: Sequence[int], shared: object, dynamic: int, arguments: Sequence[Any]
    ) -> None:
        """Run a kernel on arrays, which it changes in place, and numbers, with `dynamic` bytes of shared memory.

        The driver knows of the `shared` memory of fixed size from the PTX.
        """
        function, count = self.functions[kernel]
        arrays = [value for value in arguments if isinstance(value, np.ndarray)]
        places = {id(array): self._to_device(array) for array in arrays}
        given: list[Any] = []
        for value in arguments:
            given += _words(value, places.get(id(value)), is_bare=count == len(arguments))
        addresses = (ctypes.c_void_p * len(given))(*(ctypes.addressof(word) for word in given))
        dims = [ctypes.c_uint(int(number)) for number in (*grid, *size)]
        self._call("cuLaunchKernel", function, *dims, ctypes.c_uint(int(dynamic)), None, addresses, None)
        self._call("cuCtxSynchronize")
        for array in arrays:
            place = places.pop(id(array), None)
            if place is not None:
                self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), place, ctypes.c_size_t(array.nbytes))
                self._call("cuMemFree_v2", place)

    def _to_device(self, array: np.ndarray) -> ctypes.c_uint64:
        place = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(1, array.nbytes)))
        self._call("cuMemcpyHtoD_v2", place, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return place


def _words(value: Any, place: ctypes.c_uint64 | None, *, is_bare: bool) -> list[Any]:
    """The parameters that stand for one argument: a pointer, or a descriptor; or a number."""
    if place is None:
        kinds = {np.float32: ctypes.c_float, np.float64: ctypes.c_double, np.int32: ctypes.c_int32}
        return [kinds.get(type(value), ctypes.c_int64)(value.item() if isinstance(value, np.generic) else value)]
    if is_bare:
        return [place]
    strides = [stride // value.itemsize for stride in value.strides]
    return [place, place, *(ctypes.c_int64(word) for word in (0, *value.shape, *strides))]
