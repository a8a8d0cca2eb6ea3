"""Checks the arguments of a call against a model's signature. Nothing is converted that could lose a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import show_dtype
from ..errors import InvalidInputError, quoted
from .signature import TensorSpec, show_type

MOST_THREADS = (1 << 31) - 1
"""The runtime counts threads in 32 bits."""


def check_num_threads(count: int | None) -> None:
    """Raise `InvalidInputError` unless `count` threads can be asked for; None stands for all processors."""
    if count is None or (type(count) is int and 0 < count <= MOST_THREADS):
        return
    raise InvalidInputError(f"num_threads must be a positive integer of 31 bits or None, not {quoted(count)}")


def listed(requests: Iterable[Any]) -> list[Any]:
    """The requests of `run_many` as a list; `InvalidInputError` for what is none."""
    if not isinstance(requests, Iterable):
        raise InvalidInputError(f"run_many takes a list of requests, not {type(requests).__name__}")
    return list(requests)


def bind_arguments(specs: Sequence[TensorSpec], arguments: Sequence[Any]) -> list[np.ndarray]:
    """Arrays for `specs`, in their order, from the positional `arguments` of a call.

    They are one array per spec, or one list or tuple of them, or one dict by name. An array is anything with DLPack or
    `__array__`; the result is row-major, aligned and in native byte order, and copied only where the argument is not.
    Donated inputs are written to, so they are never copied: they must be row-major, writable, and apart from the others.
    Raises `InvalidInputError`, which names the input that is wrong.
    """
    return bind_in_order(specs, in_order(specs, arguments))


def bind_in_order(specs: Sequence[TensorSpec], values: Sequence[Any]) -> list[np.ndarray]:
    """The same for one value per spec."""
    arrays = [checked_array(spec, value) for spec, value in zip(specs, values, strict=True)]
    if any(spec.donated for spec in specs):
        _check_donated(specs, values, arrays)
    if any(isinstance(dim, str) for spec in specs for dim in spec.shape):
        _check_symbols(specs, arrays)
    return arrays


def in_order(specs: Sequence[TensorSpec], arguments: Sequence[Any]) -> Sequence[Any]:
    """One value per spec, unchecked, from the `arguments` of `bind_arguments`."""
    if len(arguments) == 1:
        (given,) = arguments
        if isinstance(given, (list, tuple)):  # faster than an abstract class, so it comes first
            arguments = given
        elif isinstance(given, Mapping):
            return _by_name(specs, given)
    check_count(specs, arguments)
    return arguments


def check_count(specs: Sequence[TensorSpec], values: Sequence[Any]) -> None:
    """Raise `InvalidInputError` unless there is one value per spec."""
    if len(values) != len(specs):
        names = ", ".join(str(spec) for spec in specs) or "none"
        counts = f"expected {_count(len(specs))} but got {len(values)}"
        raise InvalidInputError(f"{counts}; the model's inputs are {names}")


def _count(number: int) -> str:
    return f"{number} input" if number == 1 else f"{number} inputs"


def _by_name(specs: Sequence[TensorSpec], given: Mapping[str, Any]) -> list[Any]:
    names = [spec.name for spec in specs]
    if len(given) == len(names) and all(map(given.__contains__, names)):
        return [given[name] for name in names]
    missing = [name for name in names if name not in given]
    unknown = [str(name) for name in given if name not in names]
    if missing or unknown:
        faults = [f"missing {', '.join(map(repr, missing))}"] if missing else []
        faults += [f"unknown {', '.join(map(repr, unknown))}"] if unknown else []
        known = ", ".join(names) or "none"
        raise InvalidInputError(f"inputs by name: {'; '.join(faults)}; the model's inputs are {known}")
    return [given[name] for name in names]


def checked_array(spec: TensorSpec, value: Any) -> np.ndarray:
    """`value` as an array that fits `spec` (see `bind_arguments`)."""
    array = value if type(value) is np.ndarray else as_array(spec.name, show_type(spec.dtype, spec.shape), value)
    if array.dtype != spec.numpy_dtype:
        if show_dtype(array.dtype) != spec.dtype:
            raise _unfit(spec, array, f"convert it with .astype('{spec.numpy_dtype}') if that is what you mean")
        array = array.astype(spec.numpy_dtype)
    if array.ndim != spec.rank:
        raise _unfit(spec, array, f"the rank is {array.ndim} instead of {spec.rank}")
    for axis, (size, expected) in enumerate(zip(array.shape, spec.shape, strict=True)):
        if size != expected and isinstance(expected, int):
            raise _unfit(spec, array, f"dim {axis} is {size} instead of {expected}")
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.array(array, order="C", copy=True)


def as_array(name: str, expected: str, value: Any) -> np.ndarray:
    """A view, for the input `name`, of anything with DLPack or `__array__`; Python's numbers and lists have no dtype: refused."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidInputError(f"input '{name}' is a masked array, whose mask would be lost; give value.filled(...)")
    reason: Exception | None = None
    for protocol, convert in (("__array__", np.asarray), ("__dlpack__", _from_dlpack)):
        if hasattr(value, protocol):
            try:
                return np.asarray(convert(value))
            except Exception as error:  # whatever the other library raises
                reason = error
    if reason is not None:
        raise InvalidInputError(f"input '{name}' cannot be read as an array: {reason}") from reason
    got = type(value).__name__
    raise InvalidInputError(f"input '{name}' expects an array {expected} but got {got}; make one with numpy.asarray(value, dtype)")


_READABLE_DEVICES = frozenset({1, 3, 11})
"""Of DLPack: the CPU, and memory of the host that CUDA and ROCm have pinned."""


def _from_dlpack(value: Any) -> np.ndarray:
    """The array behind a DLPack producer, which NumPy does not ask for its device; `TypeError` unless the CPU reads there."""
    if hasattr(value, "__dlpack_device__"):
        device = int(value.__dlpack_device__()[0])
        if device not in _READABLE_DEVICES:
            raise TypeError(f"it lies on device {device} of DLPack, not in the CPU's memory; copy it there first")
    return np.asarray(np.from_dlpack(value))


def _unfit(spec: TensorSpec, array: np.ndarray, hint: str) -> InvalidInputError:
    expected = show_type(spec.dtype, spec.shape)
    got = show_type(show_dtype(array.dtype), array.shape)
    return InvalidInputError(f"input '{spec.name}' expects {expected} but got {got}; {hint}")


def _check_donated(specs: Sequence[TensorSpec], values: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
    """Donated inputs must be the caller's own memory, which the call may write, and nobody else's."""
    for spec, value, own in zip(specs, values, arrays, strict=True):
        if not spec.donated:
            continue
        if not own.flags.writeable:
            raise InvalidInputError(f"input '{spec.name}' is donated but read-only; pass a copy of it")
        if isinstance(value, np.ndarray) and own.size and not np.may_share_memory(value, own):
            hint = "pass numpy.ascontiguousarray(value), or compile without donating it"
            raise InvalidInputError(f"input '{spec.name}' is donated but not a row-major array in native byte order; {hint}")
        for other, theirs in zip(specs, arrays, strict=True):
            if other is not spec and np.may_share_memory(own, theirs):
                raise InvalidInputError(f"input '{spec.name}' is donated but shares memory with '{other.name}'; pass a copy of it")


def _check_symbols(specs: Sequence[TensorSpec], arrays: Sequence[np.ndarray]) -> None:
    """Dims with one name must have one size."""
    sizes: dict[str, tuple[int, str]] = {}
    for spec, array in zip(specs, arrays, strict=True):
        for dim, size in zip(spec.shape, array.shape, strict=True):
            if not isinstance(dim, str):
                continue
            known, owner = sizes.setdefault(dim, (size, spec.name))
            if known != size:
                raise _unfit(spec, array, f"dim '{dim}' is {size} here but {known} in input '{owner}'")
