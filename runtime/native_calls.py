"""Calls that the native library takes from Python as they are: whether it can here, and the built-in function that does it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Unfinished = tuple[int, int, list[Any]] | None
"""What a native call left to do: None, everything; or its outcome, the address of its record, and arrays for the results."""
Caller = Callable[..., list[np.ndarray] | Unfinished]
"""A function of `dlc_new_callers` (see `dlc_runtime.h`)."""

_OBJECT, _POINTER = ctypes.py_object, ctypes.c_void_p
_NEW_CALLERS = ctypes.PYFUNCTYPE(_OBJECT, _OBJECT, _OBJECT, _OBJECT, _POINTER, _POINTER)
_NEW_ARRAY = ctypes.PYFUNCTYPE(_OBJECT, _POINTER, _POINTER, _POINTER)


def reads_arrays(library: ctypes.CDLL) -> bool:
    """Whether the library finds in array objects what NumPy says of them. Only CPython's object header is known to it."""
    if sys.implementation.name != "cpython" or (ctypes.sizeof(ctypes.c_void_p), object.__basicsize__) != (8, 16):
        return False
    whole = np.zeros((3, 5), np.float32)
    frozen = np.zeros(7, np.int16)
    frozen.flags.writeable = False
    return all(_reads_array(library, values) for values in (whole, frozen, whole.T, whole[:, 1:3], np.zeros(())))


def _reads_array(library: ctypes.CDLL, values: npt.NDArray[np.generic]) -> bool:
    words = (ctypes.c_int64 * (5 + values.ndim))()
    library.dlc_read_array(id(values), words)
    flags = 0x1 * values.flags.c_contiguous | 0x100 * values.flags.aligned | 0x400 * values.flags.writeable
    expected = [id(np.ndarray), values.ctypes.data, id(values.dtype), flags, values.ndim, *values.shape]
    return list(words) == expected


class NativeCalls:
    """Makes built-in functions for calls; where the library cannot read or make arrays, functions that leave all to Python."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._table = _numpy_table() if library.dlc_has_python() and reads_arrays(library) else None
        if self._table is not None and not self._makes_arrays():
            self._table = None

    def new_callers(self, idle: list[int], inputs: Sequence[str], outputs: Sequence[str]) -> tuple[Caller, Caller, Caller, Caller]:
        """Functions for the arguments of a call, and for those and arrays for its results; `inputs` and `outputs` are their names.

        They use the records at the addresses in `idle`. The last two are the same for inputs of the sizes of the last call alone.
        """
        if self._table is None:
            return _leave_all, _leave_all, _leave_all, _leave_all
        make = _NEW_CALLERS(("dlc_new_callers", self._library))
        callers: tuple[Caller, Caller, Caller, Caller] = make(idle, tuple(inputs), tuple(outputs), id(np.ndarray), self._table)
        return callers

    def _makes_arrays(self) -> bool:
        """Whether arrays that the library makes through NumPy's C interface are what NumPy itself would make."""
        kinds = [((2, 3), np.int16), ((40, 50), np.float64), ((), np.float32)]
        return all(self._makes_array(np.empty(shape, dtype)) for shape, dtype in kinds)

    def _makes_array(self, expected: npt.NDArray[np.generic]) -> bool:
        sizes = (ctypes.c_int64 * expected.ndim)(*expected.shape)
        dtype = expected.dtype
        fields = [0, id(dtype), dtype.itemsize, expected.ndim, 0, ctypes.addressof(sizes), expected.nbytes, 0]
        words = (ctypes.c_int64 * len(fields))(*fields)
        made = _NEW_ARRAY(("dlc_new_array", self._library))(ctypes.addressof(words), id(np.ndarray), self._table)
        return (
            type(made) is np.ndarray
            and (made.dtype, made.shape, made.strides) == (dtype, expected.shape, expected.strides)
            and made.flags.carray
        )


def _leave_all(*arguments: Any) -> None:
    """Runs nothing."""


def _numpy_table() -> int | None:
    """Address of the table of NumPy's C interface; None where there is none."""
    core = getattr(np, "_core", None) or getattr(np, "core", None)
    capsule = getattr(getattr(core, "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    pointer_of = ctypes.PYFUNCTYPE(_POINTER, _OBJECT, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    address: int | None = pointer_of(capsule, None)
    return address
