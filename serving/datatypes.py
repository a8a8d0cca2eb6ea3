"""Tensors of the protocol: names of element types, and elements as JSON or bytes.

Source: Open Inference Protocol, "Tensor Data Types", and its binary tensor data extension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..dtypes import NUMPY_DTYPES
from .errors import InvalidRequestError

DATATYPES = {
    "i1": "BOOL",
    "ui8": "UINT8",
    "ui16": "UINT16",
    "ui32": "UINT32",
    "ui64": "UINT64",
    "i8": "INT8",
    "i16": "INT16",
    "i32": "INT32",
    "i64": "INT64",
    "f16": "FP16",
    "bf16": "BF16",
    "f32": "FP32",
    "f64": "FP64",
}
"""The protocol's name of each element type that it has."""


def array_of_bytes(name: str, dtype: str, shape: tuple[int, ...], content: bytes | memoryview) -> np.ndarray:
    """The tensor `name` from its row-major little-endian elements, on their memory if that is aligned."""
    numpy_dtype = NUMPY_DTYPES[dtype]
    expected = math.prod(shape) * numpy_dtype.itemsize
    if len(content) != expected:
        raise InvalidRequestError(f"input '{name}' has {len(content)} bytes; its shape and datatype make {expected}")
    array: np.ndarray = np.ndarray(shape, numpy_dtype, content)
    if dtype == "i1" and array.size and array.view(np.uint8).max() > 1:
        raise InvalidRequestError(f"input '{name}' is BOOL, of bytes 0 and 1, but has another byte")
    return array if array.flags.aligned else array.copy()


def array_of_numbers(name: str, dtype: str, shape: tuple[int, ...], data: Any) -> np.ndarray:
    """The tensor `name` from JSON: a list of its elements, or lists nested as `shape` says."""
    numbers = _flattened(name, shape, data)
    if len(numbers) != math.prod(shape):
        raise InvalidRequestError(f"input '{name}' has {len(numbers)} elements; its shape makes {math.prod(shape)}")
    _check_types(name, dtype, numbers)
    numpy_dtype = NUMPY_DTYPES[dtype]
    if dtype == "i1":
        return np.array(numbers, numpy_dtype).reshape(shape)
    if numpy_dtype.kind in "iu":
        limits = np.iinfo(numpy_dtype)
        if numbers and (min(numbers) < limits.min or max(numbers) > limits.max):
            raise InvalidRequestError(f"input '{name}' has a number out of the range of {DATATYPES[dtype]}")
        return np.array(numbers, numpy_dtype).reshape(shape)
    return _floats(name, dtype, numbers).reshape(shape)


def numbers_of_array(array: np.ndarray) -> list[Any]:
    """All elements, in row-major order, as JSON takes them; types that Python lacks by way of f32."""
    if array.dtype.kind not in "biuf":
        array = array.astype(np.float32)
    found: list[Any] = array.ravel().tolist()
    return found


def _flattened(name: str, shape: tuple[int, ...], data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise InvalidRequestError(f"input '{name}': data must be a list, not {_json_name(data)}")
    if list not in set(map(type, data)):
        return data
    for axis, size in enumerate(shape[1:], 1):
        if not all(type(each) is list and len(each) == size for each in data):
            raise InvalidRequestError(f"input '{name}': data is nested, but not as its shape {list(shape)}: see axis {axis}")
        data = list(chain.from_iterable(data))
    return data


def _check_types(name: str, dtype: str, numbers: Sequence[Any]) -> None:
    allowed = {bool} if dtype == "i1" else {int} if NUMPY_DTYPES[dtype].kind in "iu" else {int, float}
    wrong = set(map(type, numbers)) - allowed
    if wrong:
        found = next(each for each in numbers if type(each) in wrong)
        raise InvalidRequestError(f"input '{name}' is {DATATYPES[dtype]} but its data has {_json_name(found)}")


def _floats(name: str, dtype: str, numbers: Sequence[float]) -> np.ndarray:
    try:
        wide = np.array(numbers, np.float64)
    except OverflowError:
        raise InvalidRequestError(f"input '{name}' has a number out of the range of {DATATYPES[dtype]}") from None
    with np.errstate(over="ignore"):
        array = wide.astype(NUMPY_DTYPES[dtype])
        if dtype != "f64" and np.count_nonzero(np.isinf(array.astype(np.float64))) != np.count_nonzero(np.isinf(wide)):
            raise InvalidRequestError(f"input '{name}' has a number out of the range of {DATATYPES[dtype]}")
    return array


def _json_name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), f"the number {str(value)[:24]}")
