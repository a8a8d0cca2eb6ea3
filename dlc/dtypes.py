"""The element types of dlc, by name, with their NumPy twins: shared by the compiler and the runtime, which needs no compiler.

The runtime needs no ml_dtypes either: without it, types that NumPy itself does not have are not in the table.
"""

from __future__ import annotations

import contextlib

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

with contextlib.suppress(ImportError):
    import ml_dtypes  # noqa: F401


def _numpy_dtypes() -> dict[str, np.dtype]:
    found = {}
    for name, numpy_name in _NAMES_OF_TYPES.items():
        with contextlib.suppress(TypeError):
            found[name] = np.dtype(numpy_name)
    return found


NUMPY_DTYPES = _numpy_dtypes()
"""Every element type of the dl dialect and of a compiled model's boundary."""

_NAMES = {dtype: name for name, dtype in NUMPY_DTYPES.items()}


def dtype_of_numpy(dtype: np.dtype | type) -> str:
    """Name of the element type for a NumPy dtype, in either byte order; KeyError if there is none."""
    return _NAMES[np.dtype(dtype).newbyteorder("=")]


def show_dtype(dtype: np.dtype) -> str:
    """Name of an element type for messages; NumPy's own name for a dtype that dlc does not have."""
    return _NAMES.get(dtype.newbyteorder("="), str(dtype))
