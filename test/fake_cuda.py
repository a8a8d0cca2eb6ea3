"""A GPU for tests on machines without one: `fake_cuda.cpp` as the driver, and kernels done thread by thread.

with fake_gpu():
    dlc.compile(model, target="gpu", cache=False)(x)
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gpu_interpreter import Program, program
from gpu_tensor_maps import TensorMap

from dlc._mlir import ir
from dlc.analysis.buffers import strides_of
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.gpu_to_llvm.convert_launches_to_calls import ConvertLaunchesToCalls
from dlc.lowering.gpu_to_llvm.gpu_place_copies import GpuPlaceCopies
from dlc.lowering.gpu_to_nvvm.convert_kernels_to_nvvm import _is_plain
from dlc.targets.machine import gpu_facts_of

_SOURCE = Path(__file__).with_name("fake_cuda.cpp")
_KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p)
)
_GIB = 1 << 30
_ELEMENTS = {0: "i8", 6: "f16", 7: "f32", 9: "bf16"}
"""By the driver's number of them in a tensor map."""


@functools.cache
def _library(*options: str) -> Path:
    """The driver, built once a process with so many options of the compiler."""
    folder = tempfile.mkdtemp(prefix="dlc-fake-cuda-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / "libfakecuda.so"
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", *options, str(_SOURCE), "-o", str(file)]
    subprocess.run(command, check=True)
    return file


_Interpreted = tuple[Program, str, list[ir.Type], bool]
"""A kernel as Python: its program, its name there, the types of its arguments, and whether memrefs come as bare pointers."""


class FakeGpu:
    """The driver's inside. `configure` says what there is; `fail` lets a function fail `times` from its call number `after` on."""

    def __init__(self, *options: str) -> None:
        self.library = ctypes.CDLL(str(_library(*options)))
        self.library.fake_live.restype = ctypes.c_int64
        self._modules: dict[str, _Interpreted] = {}
        self._kernels: dict[str, _Interpreted] = {}
        self._callback = _KERNEL(self._launch)
        self.error: BaseException | None = None
        self.launched: list[str] = []
        self.library.fake_on_launch(self._callback)
        self.configure()

    def configure(
        self,
        devices: int = 1,
        capability: tuple[int, int] = (9, 0),
        driver: int = 12040,
        memory: int = _GIB,
        multiprocessors: int = 4,
    ) -> None:
        self.library.fake_configure(devices, *capability, driver, ctypes.c_uint64(memory), multiprocessors)

    def fail(self, function: str, status: int, after: int = 0, times: int = 1) -> None:
        self.library.fake_fail(function.encode(), after, status, times)

    def calls(self, function: str) -> int:
        """How often the runtime has called a function of the driver; `kernel` are those that ran."""
        return int(self.library.fake_calls(function.encode()))

    def live(self) -> int:
        """Blocks of memory, streams, modules, graphs and contexts that nobody has given back."""
        return int(self.library.fake_live())

    def interpret(self, module: ir.Module) -> None:
        """Let the kernels of a module at level gpu run; its functions, which are erased, are the host's."""
        for function in functions_of(module.operation):
            function.erase()
        with module.context, ir.Location.unknown():
            run = program(module)
        for op in [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]:
            for kernel in [each.operation for each in op.regions[0].blocks[0].operations if each.operation.name == "gpu.func"]:
                name, outer = symbol_name(kernel), symbol_name(op)
                inputs = list(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
                with module.context, ir.Location.unknown():
                    self._modules[outer] = run, f"{outer}_{name}", inputs, all(map(_is_plain, inputs))

    def name(self, module: ir.Operation) -> None:
        """Let kernels be launched by the names of the PTX of a module at level nvvm, and its GPU; the last one of a name counts."""
        chip = gpu_facts_of(module).chip.strip("sm_a")
        for op in [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "gpu.module"]:
            for kernel in [each.operation for each in op.regions[0].blocks[0].operations]:
                if kernel.name == "llvm.func" and "nvvm.kernel" in kernel.attributes:
                    self._kernels[f"{symbol_name(kernel)}@{chip}"] = self._modules[symbol_name(op)]

    def _check_places(self, kernel: str, arguments: Sequence[Any]) -> None:
        """Kernels reach the GPU's memory alone."""
        for index, values in enumerate(arguments):
            if not isinstance(values, np.ndarray) or values.size == 0:
                continue
            begin, end = np.lib.array_utils.byte_bounds(values)
            is_there = self.library.fake_holds(ctypes.c_uint64(begin), ctypes.c_uint64(end - begin))
            assert is_there, f"argument {index} of {kernel} lies outside of the GPU's memory"

    def _launch(self, name: bytes, sizes: Any, shared: int, parameters: Any) -> int:
        """Called by the driver; what goes wrong is kept in `error`, and fails the launch."""
        try:
            self.launched.append(name.decode().partition("@")[0])
            run, called, inputs, is_bare = self._kernels[name.decode()]
            words = itertools.count()
            arguments = [_argument(kind, lambda: parameters[next(words)], is_bare) for kind in inputs]
            self._check_places(name.decode(), arguments)
            with np.errstate(all="ignore"):
                run._launch(called, sizes[:3], sizes[3:6], run.names[f"{called}_shared"], shared, arguments)
        except BaseException as error:  # called from C, through which nothing may be raised
            self.error = error
            return 719
        return 0


def _argument(kind: ir.Type, next_place: Callable[[], int], is_bare: bool) -> Any:
    """The value that stands at the next parameters of a kernel."""
    if str(kind) == "!llvm.ptr":
        return _tensor_map(next_place())
    if not isinstance(kind, ir.MemRefType):
        dtype = np.dtype(np.int64 if str(kind) == "index" else NUMPY_DTYPES[str(kind)])
        value = np.frombuffer((ctypes.c_char * 8).from_address(next_place()), dtype, 1)[0].copy()
        return int(value) if str(kind) == "index" else value
    memref = ir.MemRefType(kind)
    dtype = np.dtype(np.int64 if isinstance(memref.element_type, ir.IndexType) else NUMPY_DTYPES[str(memref.element_type)])

    def word() -> int:
        return ctypes.c_int64.from_address(next_place()).value

    if is_bare:
        return _array(word(), dtype, memref.shape, [stride * dtype.itemsize for stride in strides_of(memref)[0]])
    word()
    address, offset = word(), word()
    shape = [word() for _ in range(memref.rank)]
    strides = [word() * dtype.itemsize for _ in range(memref.rank)]
    return _array(address + offset * dtype.itemsize, dtype, shape, strides)


class _TensorMap(ctypes.Structure):
    """As `fake_cuda.cpp` has it."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("element", ctypes.c_uint32),
        ("swizzle", ctypes.c_uint32),
        ("rank", ctypes.c_uint32),
        ("box", ctypes.c_uint32 * 5),
        ("sizes", ctypes.c_uint64 * 5),
        ("strides", ctypes.c_uint64 * 4),
    ]


def _tensor_map(place: int) -> TensorMap:
    """What a tensor map at `place` describes."""
    found = _TensorMap.from_buffer_copy((ctypes.c_char * ctypes.sizeof(_TensorMap)).from_address(place))
    dtype, rank = np.dtype(NUMPY_DTYPES[_ELEMENTS[found.element]]), found.rank
    strides = [*found.strides[: rank - 1][::-1], dtype.itemsize]
    source = _array(found.address, dtype, found.sizes[:rank][::-1], strides)
    return TensorMap(source, tuple(found.box[:rank][::-1]), 16 << found.swizzle)


def _array(address: int, dtype: np.dtype[Any], shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    spans = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    size = 1 if 0 in shape else sum(spans) + dtype.itemsize
    return np.ndarray(tuple(shape), dtype, (ctypes.c_char * size).from_address(address), 0, strides)


@contextlib.contextmanager
def fake_gpu(*options: str) -> Iterator[FakeGpu]:
    """A fake driver in place of NVIDIA's while the block runs. Kernels that are compiled in it can be launched.

    `-DBEFORE_CUDA_12` makes one that has no tensor maps.
    """
    before = os.environ.get("DLC_CUDA_LIBRARY")
    os.environ["DLC_CUDA_LIBRARY"] = str(_library(*options))
    gpu = FakeGpu(*options)
    place_copies, convert_launches = GpuPlaceCopies.run, ConvertLaunchesToCalls.run

    def at_level_gpu(self: GpuPlaceCopies, op: ir.Operation) -> None:
        gpu.interpret(ir.Module.parse(str(op), op.context))
        place_copies(self, op)

    def at_level_nvvm(self: ConvertLaunchesToCalls, op: ir.Operation) -> None:
        gpu.name(op)
        convert_launches(self, op)

    GpuPlaceCopies.run, ConvertLaunchesToCalls.run = at_level_gpu, at_level_nvvm  # type: ignore[method-assign]
    try:
        yield gpu
    finally:
        GpuPlaceCopies.run, ConvertLaunchesToCalls.run = place_copies, convert_launches  # type: ignore[method-assign]
        if before is None:
            del os.environ["DLC_CUDA_LIBRARY"]
        else:
            os.environ["DLC_CUDA_LIBRARY"] = before
