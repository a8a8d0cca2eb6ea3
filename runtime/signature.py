"""What a compiled model takes and gives, as plain data: no compiler is needed to read it."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

Dim = int | str | None

NUMPY_DTYPES: dict[str, np.dtype] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "ui8": np.dtype(np.uint8),
    "i1": np.dtype(np.bool_),
}
"""The array dtype of every element type that crosses the boundary of a compiled model."""

_NAMES = {dtype: name for name, dtype in NUMPY_DTYPES.items()}


def dtype_name(dtype: np.dtype) -> str:
    """`f32` for `np.float32`, and so on, in either byte order; NumPy's own name for a dtype no model takes."""
    return _NAMES.get(dtype.newbyteorder("="), str(dtype))


def show_type(dtype: str, shape: tuple[Dim, ...]) -> str:
    """`f32[batch, 3, ?]`: an element type's name and a shape, for messages."""
    return f"{dtype}[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of a signature.

    A dim of `shape` is a size, a name (equal names are equal sizes in one call) or None (any size). `dtype` is a key of
    `NUMPY_DTYPES`.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str

    @property
    def numpy_dtype(self) -> np.dtype:
        return NUMPY_DTYPES[self.dtype]

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.name}: {show_type(self.dtype, self.shape)}"


@dataclass(frozen=True)
class Signature:
    """Inputs, outputs and bound parameters of the function `entry`, each in its calling order."""

    entry: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    params: tuple[TensorSpec, ...] = ()
