"""Where arrays lie, and the memref descriptors that say so to compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

_from_buffer: Callable[[Any], Any] = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


def address_of(values: np.ndarray) -> int:
    """Address of the first element. The buffer protocol takes 0.3 us against 1.1 us of `__array_interface__`, but it knows
    neither read-only nor empty arrays nor ml_dtypes."""
    try:
        return _address_of(_from_buffer(values))
    except (TypeError, ValueError):
        address: int = values.__array_interface__["data"][0]
        return address


def describe(values: np.ndarray) -> list[int]:
    """Words of the memref descriptor of a row-major array: allocated, aligned, offset, sizes, strides in elements."""
    address = address_of(values)
    strides, stride = [], 1
    for size in reversed(values.shape):
        strides.append(stride)
        stride *= size
    return [address, address, 0, *values.shape, *reversed(strides)]
