"""Finds and loads the native runtime library: memory, strided copies and the thread pool of compiled models.

runtime = load_library()
runtime.set_num_threads(2)      # for calls from this thread
runtime.memory_live()           # bytes that compiled code has allocated and not freed
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CancelledError, DLCError, InvalidInputError, OutOfMemoryError, RuntimeLoadError, TargetError, quoted
from .arguments import MOST_THREADS
from .native_calls import NativeCalls, reads_arrays
from .native_functions import ARGUMENTS, RESULTS

_PATTERN = "lib/libdlc_runtime.*"
_ENVIRONMENT = "DLC_RUNTIME_LIBRARY"
_THREADS, _AFFINITY = "DLC_NUM_THREADS", "DLC_THREAD_AFFINITY"
_OUT_OF_MEMORY = 2
_ERRORS = {3: CancelledError, 4: RuntimeLoadError, 5: TargetError}
"""By `DlcErrorKind`; any other is an error of the arguments."""
_ADDRESSES = 2**63
_FEW = 8
"""Processors that an error lists."""
_CLOCK = ctypes.CFUNCTYPE(ctypes.c_int64)
_BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def _is_thread_count(text: str) -> bool:
    """Whether it is what the library reads as such: decimal digits of at most 31 bits."""
    return bool(re.fullmatch("[0-9]{1,10}", text)) and 0 < int(text) <= MOST_THREADS


class RuntimeLibrary:
    """The loaded library. `path` is its file, as `shared_libs` of an execution engine wants it."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
            for name, arguments in ARGUMENTS.items():
                function = getattr(self._library, name)
                function.argtypes = arguments
                function.restype = RESULTS.get(name)
            self.call: Callable[[ctypes.c_void_p], int] = self._library.dlc_call
            """`dlc_call` as it is: 1 says that `last_error` has a message. It runs without the GIL."""
            self.bind_inputs: Callable[[ctypes.c_void_p, int], int] = self._library.dlc_bind_inputs
            """`dlc_bind_inputs`; where arrays are not laid out as it takes them, a function that fits none."""
            self.try_allocate: Callable[[int, int], int | None] = self._library.dlc_try_allocate
            """`allocate`, alignment before size, with None where there is no memory; as it is, for the sake of speed."""
            self.free: Callable[[int], None] = self._library._mlir_memref_to_llvm_free
            """Free memory of `allocate`, or a result that compiled code has allocated."""
            self.new_callers = NativeCalls(self._library).new_callers
            """Built-in functions for calls from Python, see `NativeCalls`."""
            if not reads_arrays(self._library):
                self.bind_inputs = lambda call, takes_sizes: 2
        except (OSError, AttributeError) as error:
            raise RuntimeLoadError(f"cannot load the runtime library: {error}; reinstall dlc to rebuild it") from error
        self.path = path
        self._check_environment()

    def _check_environment(self) -> None:
        """The library itself skips settings that it does not understand; say so instead."""
        count = os.environ.get(_THREADS)
        if count and not _is_thread_count(count):
            raise InvalidInputError(f"{_THREADS} is {quoted(count)}; give the number of threads of a call, 1 or more, or unset it")
        affinity = os.environ.get(_AFFINITY)
        if affinity:
            self.set_thread_affinity(affinity, f"{_AFFINITY} is")

    def set_thread_affinity(self, processors: str, subject: str = "the thread affinity is") -> None:
        """Bind the pool's threads (callers' threads stay where they are).

        `"0,2-5"` binds them to these processors in turn, `"none"` to none, and `"auto"`, the default, keeps them off the
        processor of the thread that called. `InvalidInputError` if it is none of these.
        """
        if self._library.dlc_set_thread_affinity(processors.encode()):
            usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
            known = f"of {', '.join(map(str, usable))}" if len(usable) <= _FEW else f"from {min(usable)} to {max(usable)}"
            raise InvalidInputError(f"{subject} {processors!r}; give processors like 0,2-5 ({known}), 'none' or 'auto'")

    def set_num_threads(self, count: int | None) -> int | None:
        """Set how many threads calls from this Python thread use (None: `DLC_NUM_THREADS`, else all processors).

        Returns the setting before.
        """
        return self._library.dlc_set_num_threads(count or 0) or None

    def num_threads(self) -> int:
        """How many threads calls from this Python thread use."""
        return int(self._library.dlc_num_threads())

    def parallel_for(self, body: Callable[[int, int], None], n: int) -> None:
        """Cover `range(n)` by calls `body(lo, hi)` on the pool's threads, and wait for all of them."""
        callback = _BODY(lambda _, lo, hi: body(lo, hi))
        self._library.dlc_parallel_for(ctypes.cast(callback, ctypes.c_void_p), None, n)

    def invoke(self, entry: int, table: int) -> None:
        """Call the function `void entry(void **)` without the GIL; `last_error` if it raises one.

        Memory that this thread has allocated in it by then is freed.
        """
        if self._library.dlc_invoke(entry, table):
            raise self.last_error()

    def call_many(self, calls: Sequence[int], threads: int | None) -> list[bool]:
        """Run prepared calls (addresses of `DlcCall`) on `threads` threads without the GIL; which of them failed.

        `last_error` then has the message of the first that did.
        """
        failed = (ctypes.c_int32 * len(calls))()
        self._library.dlc_call_many((ctypes.c_void_p * len(calls))(*calls), len(calls), threads or 0, failed)
        return [value != 0 for value in failed]

    def last_error(self, prefix: str = "") -> DLCError:
        """What compiled code has raised last on this thread; its message follows `prefix`."""
        message = prefix + self._library.dlc_last_error().decode(errors="replace")
        facts = (ctypes.c_int64 * 4)()
        self._library.dlc_last_error_facts(facts)
        kind, size, used, limit = facts
        if kind == _OUT_OF_MEMORY:
            return out_of_memory(message, size, used, limit or None)
        return _ERRORS.get(kind, InvalidInputError)(message)

    def allocate(self, size: int, alignment: int = 0, what: str = "memory") -> int:
        """Address of `size` uninitialised bytes, aligned to 64 bytes, 4 KiB from 64 KiB up, or more if asked.

        `OutOfMemoryError`, which says `what` they are for, where there are none.
        """
        address = self.try_allocate(alignment, size) if size < _ADDRESSES else None
        if address is None:
            raise out_of_memory(f"{what}: {size} bytes, which the system does not have", size)
        return address

    def fail_allocation(self, count: int) -> int:
        """For tests: let the allocation after the next `count` ones fail, once; none when negative.

        Returns what was left of the count before: negative when that allocation has failed.
        """
        return int(self._library.dlc_fail_allocation(count))

    def cancel(self, cancellations: int) -> None:
        """End the calls that run now with the counter at this address, each before its next kernel."""
        self._library.dlc_cancel(cancellations)

    def memory_live(self) -> int:
        """Bytes that are allocated now."""
        return int(self._library.dlc_memory_live())

    def memory_peak(self) -> int:
        """Most bytes that were allocated at once, since the start or the last `memory_reset_peak`."""
        return int(self._library.dlc_memory_peak())

    def memory_reset_peak(self) -> None:
        """Start a new peak at what is allocated now."""
        self._library.dlc_memory_reset_peak()

    def memory_idle(self) -> int:
        """Bytes of freed blocks that are kept for the next call."""
        return int(self._library.dlc_memory_idle())

    def memory_trim(self) -> None:
        """Give freed blocks back to the system."""
        self._library.dlc_memory_trim()

    def profile_reset(self) -> None:
        """Forget the profile of the calls that this Python thread has made."""
        self._library.dlc_profile_reset()

    def profile_rows(self) -> list[tuple[int, int]]:
        """(how often it was charged, nanoseconds) of each row of this Python thread's profile since `profile_reset`."""
        count = int(self._library.dlc_profile_rows(None, None, 0))
        calls, nanoseconds = (ctypes.c_int64 * count)(), (ctypes.c_int64 * count)()
        self._library.dlc_profile_rows(calls, nanoseconds, count)
        return list(zip(calls, nanoseconds, strict=True))

    def profile_threads(self) -> tuple[int, int]:
        """How many ranges this Python thread has shared with others since `profile_reset`, and nanoseconds of start and wait."""
        calls = ctypes.c_int64()
        nanoseconds = int(self._library.dlc_profile_threads(ctypes.byref(calls)))
        return calls.value, nanoseconds

    def profile_cost(self, pairs: int = 1000) -> float:
        """Nanoseconds that code with a profile takes to charge time to a row, measured over `pairs` of two charges."""
        return float(self._library.dlc_profile_cost(pairs))

    @contextlib.contextmanager
    def profile_clock(self, clock: Callable[[], int]) -> Iterator[None]:
        """Let profiles of all threads read time, in nanoseconds, from `clock` while the block runs."""
        callback = _CLOCK(clock)
        self._library.dlc_profile_use_clock(ctypes.cast(callback, ctypes.c_void_p))
        try:
            yield
        finally:
            self._library.dlc_profile_use_clock(None)

    def provides(self, function: str) -> bool:
        """Whether the code of engines may call `function`."""
        return bool(self._library.dlc_provides(function.encode()))

    def processor_has(self, feature: str) -> bool:
        """Whether this processor has a feature, by the name that engines use."""
        return int(self._library.dlc_processor_has(feature.encode())) == 1

    def crc32c(self, content: np.ndarray, before: int = 0) -> int:
        """CRC-32C of the bytes of a row-major array that follow those of the checksum `before`."""
        return int(self._library.dlc_crc32c(content.ctypes.data, content.nbytes, before))

    def abi(self) -> int:
        """Version of what compiled code and the runtime expect of each other."""
        return int(self._library.dlc_runtime_abi())

    def function(self, name: str, arguments: Sequence[type], result: type | None) -> Callable[..., Any]:
        """The function `name` of `dlc/runtime.h`."""
        found = getattr(self._library, name)
        found.argtypes, found.restype = arguments, result
        return found  # type: ignore[no-any-return]

    def memref_copy(self, source: npt.NDArray[np.generic], target: npt.NDArray[np.generic]) -> None:
        """Copy between arrays of equal shape and dtype that do not overlap, as `memref.copy` in compiled code does."""
        if source.shape != target.shape or source.dtype != target.dtype:
            raise ValueError(f"cannot copy {source.dtype}{source.shape} to {target.dtype}{target.shape}")
        unranked = [_UnrankedMemRef.of(array) for array in (source, target)]
        self._library.memrefCopy(source.itemsize, *(ctypes.addressof(memref) for memref in unranked))


def out_of_memory(message: str, size: int, used: int = 0, limit: int | None = None) -> OutOfMemoryError:
    """The error of an allocation of `size` bytes in a call that holds `used`."""
    remedy = "raise memory_limit" if limit else "free memory"
    return OutOfMemoryError(f"out of memory: {message}; give smaller inputs or {remedy}", size, used, limit)


class _UnrankedMemRef(ctypes.Structure):
    _fields_ = (("rank", ctypes.c_int64), ("descriptor", ctypes.c_void_p))
    fields: ctypes.Array[ctypes.c_int64]

    @classmethod
    def of(cls, array: npt.NDArray[np.generic]) -> _UnrankedMemRef:
        """The descriptor of `array`, whose strides must be whole elements."""
        address = array.ctypes.data
        strides = [stride // array.itemsize for stride in array.strides]
        fields = [address, address, 0, *array.shape, *strides]
        memref = cls(array.ndim, None)
        memref.fields = (ctypes.c_int64 * len(fields))(*fields)
        memref.descriptor = ctypes.addressof(memref.fields)
        return memref


def find_library() -> Path:
    """File of the runtime library: `DLC_RUNTIME_LIBRARY`, else in any of the places this package lies in.

    Raises `RuntimeLoadError` when there is none.
    """
    forced = os.environ.get(_ENVIRONMENT)
    if forced:
        if not Path(forced).is_file():
            raise RuntimeLoadError(f"{_ENVIRONMENT} names '{forced}', which is not a file; correct or unset it")
        return Path(forced)
    places = list(sys.modules[str(__package__)].__path__)  # several in an editable installation
    for place in places:
        for file in sorted(Path(place).glob(_PATTERN)):
            return file
    raise RuntimeLoadError(
        f"the runtime library is missing (no {_PATTERN} in {', '.join(places)}); "
        f"reinstall dlc with `pip install .`, or set {_ENVIRONMENT} to its file"
    )


@functools.lru_cache(maxsize=1)
def load_library() -> RuntimeLibrary:
    """The runtime library, found and loaded once a process; `RuntimeLoadError` when missing or unfit."""
    return RuntimeLibrary(find_library())
