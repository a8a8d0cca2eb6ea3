"""What the NumPy references of the ops share: computing f16 and bf16 in f32, and conversions between element types."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dlc.dialects.dl.storage import SMALL_INTS, STORAGE, from_storage, to_storage
from dlc.dialects.dl.types import NUMPY_DTYPES, dtype_of_numpy

_NARROW = (NUMPY_DTYPES["f16"], NUMPY_DTYPES["bf16"])


def wide(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """A reference that computes f16 and bf16 in f32 and rounds an f32 result once, to the first narrow operand's dtype.

    An absent optional operand is None. The result is an array for operands of rank 0, too; floating-point warnings are off.
    """

    @functools.wraps(function)
    def evaluate(*operands: np.ndarray | None, **attributes: Any) -> np.ndarray:
        given = [operand for operand in operands if operand is not None]
        narrow = next((operand.dtype for operand in given if operand.dtype in _NARROW), None)
        with np.errstate(all="ignore"):
            wider = [None if operand is None else widen(operand) for operand in operands]
            found = np.asarray(function(*wider, **attributes))
            return found if narrow is None or found.dtype != np.float32 else found.astype(narrow)

    return evaluate


def widen(array: np.ndarray) -> np.ndarray:
    """f16 and bf16 as f32, everything else unchanged."""
    return array.astype(np.float32) if array.dtype in _NARROW else array


def convert(array: np.ndarray, dtype: str, saturate: bool = True, rounding: str = "up") -> np.ndarray:
    """`array` in a dl dtype: NumPy's astype, but floats saturate at the ends of an integer type and NaN becomes 0.

    `saturate` and `rounding` are for types that are only stored.
    """
    target, stored = NUMPY_DTYPES[dtype], dtype_of_numpy(array.dtype)
    if target == array.dtype:
        return array
    if stored in STORAGE:
        return convert(from_storage(array, stored), dtype, saturate, rounding)
    if dtype in STORAGE:
        with np.errstate(all="ignore"):
            return to_storage(convert(array, "i32") if dtype in SMALL_INTS else widen(array), dtype, saturate, rounding)
    source = widen(array)
    with np.errstate(all="ignore"):
        if target == np.bool_:
            return np.asarray(source != 0)
        if source.dtype.kind != "f" or dtype in ("f64", "f32", "f16", "bf16"):
            return np.asarray(source.astype(target))
        limits = np.iinfo(target)
        whole = np.trunc(source.astype(np.float64))
        inside = (whole > limits.min) & (whole < limits.max)
        ends = np.where(whole >= limits.max, limits.max, limits.min).astype(target)
        return np.where(inside, np.where(inside, whole, 0).astype(target), np.where(np.isnan(whole), target.type(0), ends))
