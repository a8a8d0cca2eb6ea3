"""The element types of dlc, by name, with their NumPy twins: shared by the compiler and the runtime, which needs no compiler.

The runtime needs no ml_dtypes either: without it, types that NumPy itself does not have are not in the table. It takes memory, so
it is loaded for the first of these types only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import numpy as np

_NAMES_OF_TYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
    "i1": "bool",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f4E2M1FN": "float4_e2m1fn",
    "i4": "int4",
    "ui4": "uint4",
    "i2": "int2",
    "ui2": "uint2",
}
"""NumPy's names of them; ml_dtypes gives NumPy those that it does not have."""


class _NumpyDtypes(Mapping[str, np.dtype]):
    """The table; a type that NumPy does not have, and a look at all of them, load ml_dtypes where it is installed."""

    def __init__(self) -> None:
        self._known: dict[str, np.dtype] = {}
        self._names: dict[np.dtype, str] = {}
        self._is_whole = False
        self._find()

    def __getitem__(self, name: str) -> np.dtype:
        found = self._known.get(name)
        return self._whole()[name] if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def name_of(self, dtype: np.dtype) -> str | None:
        """None for a dtype, of this machine's byte order, that the table does not have."""
        name = self._names.get(dtype)
        if name is None:
            self._whole()
            name = self._names.get(dtype)
        return name

    def _whole(self) -> dict[str, np.dtype]:
        if not self._is_whole:
            with contextlib.suppress(ImportError):
                import ml_dtypes  # noqa: F401
            self._find()
            self._is_whole = True
        return self._known

    def _find(self) -> None:
        """Look up what NumPy has by now, in the order of the names."""
        found = {}
        for name, numpy_name in _NAMES_OF_TYPES.items():
            with contextlib.suppress(TypeError):
                found[name] = np.dtype(numpy_name)
        self._known, self._names = found, {dtype: name for name, dtype in found.items()}


NUMPY_DTYPES = _NumpyDtypes()
"""Every element type of the dl dialect and of a compiled model's boundary."""


def dtype_of_numpy(dtype: np.dtype | type) -> str:
    """Name of the element type for a NumPy dtype, in either byte order; KeyError if there is none."""
    name = NUMPY_DTYPES.name_of(np.dtype(dtype).newbyteorder("="))
    if name is None:
        raise KeyError(dtype)
    return name


def show_dtype(dtype: np.dtype) -> str:
    """Name of an element type for messages; NumPy's own name for a dtype that dlc does not have."""
    return NUMPY_DTYPES.name_of(dtype.newbyteorder("=")) or str(dtype)
