"""Results of compiled code as arrays: in memory of their own, in that of donated inputs, or in the caller's arrays."""

from __future__ import annotations

import bisect
import ctypes
import functools
import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import show_dtype
from ..errors import InvalidInputError
from .descriptors import address_of
from .library import RuntimeLibrary
from .signature import TensorSpec, show_type

SMALL_BYTES = 64 * 1024
"""From here on the runtime's memory, page-aligned and kept from call to call, is worth the 1 us more of an array that owns it."""


class ResultReader:
    """Makes arrays of the descriptors that a call has returned; `inputs` are those of the call that were donated."""

    def __init__(self, library: RuntimeLibrary, inputs: Sequence[np.ndarray] = ()) -> None:
        self._library = library
        self._donated = {address_of(values): values for values in inputs}

    def read(self, spec: TensorSpec, descriptor: array[int]) -> np.ndarray:
        """An array that owns the memory of the result, or a view of the donated input that it lies in.

        `descriptor` is allocated, aligned, offset and sizes.
        """
        owner = self._donated.get(descriptor[0])
        if owner is not None:
            return _view(spec, descriptor, owner)
        allocated, aligned, offset, *shape = descriptor
        dtype = spec.numpy_dtype
        start = aligned - allocated + offset * dtype.itemsize
        block = block_type(self._library, start + math.prod(shape) * dtype.itemsize).from_address(allocated)
        return np.ndarray(shape, dtype, block, start)


def _view(spec: TensorSpec, descriptor: array[int], owner: np.ndarray) -> np.ndarray:
    """The result as a view of the donated array that it lies in."""
    allocated, aligned, offset, *shape = descriptor
    dtype = spec.numpy_dtype
    start = aligned - allocated + offset * dtype.itemsize
    size = math.prod(shape) * dtype.itemsize
    return owner.reshape(-1).view(np.uint8)[start : start + size].view(dtype).reshape(shape)


@functools.lru_cache(maxsize=1024)
def block_type(library: RuntimeLibrary, size: int) -> Any:
    """A `ctypes` array of `size` bytes of the runtime's memory that are freed with the last NumPy array that shows them.

    A NumPy array of such an instance takes 0.8 us, one through `__array_interface__` 2 us.
    """
    free, begin_of = library.free, ctypes.addressof

    def give_back(self: ctypes.Array[ctypes.c_char]) -> None:
        free(begin_of(self))

    return type("Block", (ctypes.Array,), {"_type_": ctypes.c_char, "_length_": size, "__del__": give_back})


def outputs_in_order(specs: Sequence[TensorSpec], outputs: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
    """Arrays for results in the order of `specs`: those of a sequence, or by name, None where there is none."""
    if isinstance(outputs, Sequence):
        return outputs
    if not isinstance(outputs, Mapping):
        kind = type(outputs).__name__
        raise InvalidInputError(f"outputs are a list of arrays, or a dictionary of them by name, not {kind}")
    known = [spec.name for spec in specs]
    unknown = [str(name) for name in outputs if name not in known]
    if unknown:
        raise InvalidInputError(f"outputs by name: unknown {', '.join(map(repr, unknown))}; the model gives {', '.join(known)}")
    return [outputs.get(name) for name in known]


def checked_outputs(specs: Sequence[TensorSpec], outputs: Sequence[Any]) -> list[np.ndarray | None]:
    """The caller's arrays for results in the order of `specs`; None stands for none.

    They must be writable, row-major arrays of the results' types, apart from each other; `InvalidInputError` says which is not.
    """
    if len(outputs) != len(specs):
        given = ", ".join(map(str, specs)) or "nothing"
        raise InvalidInputError(f"expected {len(specs)} output arrays but got {len(outputs)}; the model gives {given}")
    arrays = [None if value is None else _checked_output(spec, value) for spec, value in zip(specs, outputs, strict=True)]
    _check_apart(specs, arrays)
    return arrays


def _checked_output(spec: TensorSpec, value: Any) -> np.ndarray:
    """`value` if a result may lie in it. Dims that are dynamic are compared when the result is there."""
    if type(value) is np.ndarray and value.dtype is spec.numpy_dtype and value.shape == spec.shape and value.flags.carray:
        return value
    if not isinstance(value, np.ndarray):
        expected = show_type(spec.dtype, spec.shape)
        raise InvalidInputError(f"output '{spec.name}' expects an array {expected} to write to but got {type(value).__name__}")
    fits = value.ndim == spec.rank and all(
        size == dim or not isinstance(dim, int) for size, dim in zip(value.shape, spec.shape, strict=True)
    )
    if value.dtype != spec.numpy_dtype or not fits:
        raise unfit_output(spec, value, show_type(spec.dtype, spec.shape))
    if not value.flags.carray:
        fault = "read-only" if not value.flags.writeable else "not row-major"
        raise InvalidInputError(f"output '{spec.name}' is {fault}; give an array made by numpy.empty")
    return value


def unfit_output(spec: TensorSpec, given: np.ndarray, result: str) -> InvalidInputError:
    """The error of an array that the `result` does not fit."""
    return InvalidInputError(
        f"output '{spec.name}' is {result} but the array for it is {show_type(show_dtype(given.dtype), given.shape)}"
    )


def _check_apart(specs: Sequence[TensorSpec], arrays: Sequence[np.ndarray | None]) -> None:
    if len(arrays) < 2:
        return
    given = [(spec, values) for spec, values in zip(specs, arrays, strict=True) if values is not None]
    for index, (spec, values) in enumerate(given):
        for other, theirs in given[:index]:
            if np.may_share_memory(values, theirs):
                raise InvalidInputError(f"output '{spec.name}' shares memory with output '{other.name}'; give arrays of their own")


class MemorySpans:
    """The memory of some arrays, to find in few steps which of them others lie in."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        begins = [(address_of(values), values.nbytes) for values in arrays]
        self._spans: list[tuple[int, int]] = []
        for begin, size in sorted(begins):
            last = self._spans[-1] if self._spans else (0, 0)
            if begin < last[1]:
                self._spans[-1] = (last[0], max(last[1], begin + size))
            else:
                self._spans.append((begin, begin + size))

    def words(self) -> array[int]:
        """Begins and ends, in ascending order."""
        return array("q", [bound for span in self._spans for bound in span])

    def touches(self, values: np.ndarray) -> bool:
        """Whether the row-major array `values` shares memory with one of them."""
        begin = address_of(values)
        index = bisect.bisect_left(self._spans, (begin + values.nbytes,)) - 1
        return values.nbytes > 0 and index >= 0 and self._spans[index][1] > begin


def check_apart_from_weights(specs: Sequence[TensorSpec], arrays: Sequence[np.ndarray | None], weights: MemorySpans) -> None:
    """Raise `InvalidInputError` if a result would be written over weights, which may be the caller's own arrays."""
    for spec, values in zip(specs, arrays, strict=True):
        if values is not None and weights.touches(values):
            raise InvalidInputError(f"output '{spec.name}' shares memory with a weight of the model; give an array of its own")
