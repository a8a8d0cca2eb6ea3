"""Models on a GPU: what the native runtime does with NVIDIA's driver, for Python."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .library import RuntimeLibrary, load_library

_FACTS = 8
_NAME_BYTES = 256
_LONG, _POINTER = ctypes.c_uint64, ctypes.c_void_p
TAKEN = 1
"""Stands among the places of results for memory that the call takes."""


@dataclass(frozen=True)
class DeviceFacts:
    """The first GPU of this machine, as its driver tells: the version of CUDA that the driver knows (12040 is 12.4), clocks in kHz,
    the width of the memory's bus in bits, the size of the L2 cache in bytes."""

    name: str
    driver: int
    major: int
    minor: int
    multiprocessors: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int
    l2_bytes: int

    @property
    def capability(self) -> int:
        """The compute capability as a number: 90 for 9.0."""
        return 10 * self.major + self.minor

    @property
    def shown_driver(self) -> str:
        """The driver's version of CUDA as people write it."""
        return f"{self.driver // 1000}.{self.driver % 1000 // 10}"


def device_facts() -> DeviceFacts:
    """The first GPU; `TargetError` says what is missing where there is none: the driver, or a device."""
    facts, name = (ctypes.c_int64 * _FACTS)(), ctypes.create_string_buffer(_NAME_BYTES)
    if _function("dlc_gpu_facts", (_POINTER, _POINTER, ctypes.c_int64), ctypes.c_int32)(facts, name, _NAME_BYTES):
        raise load_library().last_error()
    return DeviceFacts(name.value.decode(errors="replace"), *facts)


class GpuModel:
    """The kernels of a model, loaded. They stay while this object, or memory from it, lives.

    `address` is that of the runtime's record, which compiled code is told; `end(*owner)` is called when nobody needs it any more.
    """

    def __init__(self, address: int, end: Callable[..., object], *owner: object) -> None:
        self._library: RuntimeLibrary = load_library()
        self.address = address
        self.close = weakref.finalize(self, end, *owner)
        """Frees all that the model has on the GPU; nothing of it may be used afterwards."""

    @classmethod
    def load(cls, image: bytes) -> GpuModel:
        """Load PTX or a cubin. `TargetError` where there is no GPU, or its driver refuses the code."""
        content = ctypes.create_string_buffer(image)
        address = _function("dlc_gpu_open", (_POINTER,), _POINTER)(content)
        if not address:
            raise load_library().last_error()
        return cls(int(address), _function("dlc_gpu_close", (_POINTER,), None), int(address))

    def bind(self, host: int, size: int) -> None:
        """Copy an array of the host to the GPU, where calls find it by its address; `OutOfMemoryError` where it does not fit."""
        if _function("dlc_gpu_bind", (_POINTER, _POINTER, _LONG), ctypes.c_int32)(self.address, host, size):
            raise self._library.last_error()

    def unbind(self, host: int) -> None:
        """Forget an array of the host, once for each time it was bound."""
        if self.close.alive:
            _function("dlc_gpu_unbind", (_POINTER, _POINTER), None)(self.address, host)

    def allocate(self, size: int, what: str) -> int:
        """The address of memory on the GPU; `OutOfMemoryError` says `what` it is for."""
        address = int(_function("dlc_gpu_allocate", (_POINTER, _LONG, ctypes.c_char_p), _LONG)(self.address, size, what.encode()))
        if not address:
            raise self._library.last_error()
        return address

    def free(self, address: int, is_shared: bool = False) -> None:
        """Give memory of `allocate` back, which the next may get who asks for as much, unless others may still use it."""
        if self.close.alive:
            _function("dlc_gpu_free", (_POINTER, _LONG, ctypes.c_int32), None)(self.address, address, is_shared)

    def read(self, target: int, source: int, size: int) -> None:
        """Copy from the GPU to the host."""
        if _function("dlc_gpu_read", (_POINTER, _POINTER, _LONG, _LONG), ctypes.c_int32)(self.address, target, source, size):
            raise self._library.last_error()

    def write(self, target: int, source: int, size: int) -> None:
        """Copy from the host to the GPU."""
        if _function("dlc_gpu_write", (_POINTER, _LONG, _POINTER, _LONG), ctypes.c_int32)(self.address, target, source, size):
            raise self._library.last_error()

    @property
    def stream(self) -> int:
        """The CUDA stream that calls run on."""
        return int(_function("dlc_gpu_stream", (_POINTER,), _LONG)(self.address))


class CallPlaces:
    """Which addresses of inputs are the GPU's, and where a call puts results (`TAKEN`: in memory that it takes).

    With `in_place` it computes them there, which must be apart from the inputs; else it copies them there.
    """

    def __init__(self, inputs: Sequence[int], results: Sequence[int], in_place: bool) -> None:
        kinds = (_POINTER, ctypes.c_int64, _POINTER, ctypes.c_int64, ctypes.c_int32)
        given = [(_LONG * max(1, len(addresses)))(*addresses) for addresses in (inputs, results)]
        place = _function("dlc_gpu_place", kinds, None)
        self.use = functools.partial(place, given[0], len(inputs), given[1], len(results), in_place)
        """Let them be those of the next call of this thread."""
        self._delivered = _function("dlc_gpu_delivered", (_POINTER, ctypes.c_int64), None)
        self._count = len(results)

    def delivered(self) -> list[int]:
        """Where the last call of this thread has put each result, 0 for one that the host got.

        What the call took is the caller's to free.
        """
        found = (_LONG * self._count)()
        self._delivered(found, self._count)
        return list(found)


@functools.cache
def _function(name: str, arguments: tuple[type, ...], result: type | None) -> Callable[..., Any]:
    return load_library().function(name, arguments, result)
