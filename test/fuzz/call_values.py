"""Descriptions of arguments as JSON, wrong ones above all, and the objects that they describe."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

Description = dict[str, Any]
DTYPES = (
    "f4",
    "f8",
    "f2",
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "?",
    ">f4",
    ">i8",
    "c8",
    "O",
    "S3",
    "U2",
    "M8[s]",
    "f4,i4",
    "bf16",
)
LAYOUTS = ("plain", "transposed", "reversed", "stepped", "broadcast", "read-only", "misaligned", "offset")
_LARGEST = 1 << 16


class _Raises:
    """An object whose conversion fails."""

    def __array__(self, *rest: object, **named: object) -> np.ndarray:
        raise RuntimeError("no array")


class _Lies:
    """An object whose conversion gives no array."""

    def __array__(self, *rest: object, **named: object) -> object:
        return "no array"


class _Capsule:
    """Memory of a device that this process cannot read."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **rest: object) -> object:
        return np.zeros((2, 4), np.float32).__dlpack__()


ODD: Mapping[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "text",
    "bytes": lambda: b"\0" * 32,
    "int": lambda: 3,
    "float": lambda: 1.5,
    "bool": lambda: True,
    "nan": lambda: math.nan,
    "huge int": lambda: 10**400,
    "list": lambda: [[1.0, 2.0, 3.0, 4.0]] * 2,
    "ragged list": lambda: [[1.0], [2.0, 3.0]],
    "empty list": list,
    "deep list": lambda: [[[[[[1.0]]]]]],
    "dict": dict,
    "set": set,
    "type": lambda: np.ndarray,
    "generator": lambda: (number for number in range(3)),
    "object": object,
    "masked": lambda: np.ma.masked_array(np.ones((2, 4), np.float32), np.eye(2, 4, dtype=bool)),
    "matrix": lambda: np.matrix(np.ones((2, 4), np.float32)),
    "raises": _Raises,
    "lies": _Lies,
    "capsule": _Capsule,
    "memoryview": lambda: memoryview(np.ones((2, 4), np.float32)),
    "bytearray": lambda: bytearray(32),
    "scalar": lambda: np.float32(2),
    "method": lambda: np.ones,
}
NEVER_RIGHT = ("masked", "capsule", "lies", "raises")
"""What no call may take: its meaning would be lost."""


def array_like(random: Random, shape: Sequence[int], dtype: str) -> Description:
    """An array that fits."""
    return {"shape": list(shape), "dtype": dtype, "layout": "plain", "seed": random.randrange(100)}


def spoiled(random: Random, given: Description) -> Description:
    """Another argument in the place of one: of another type, layout or kind."""
    choice = random.random()
    if choice < 0.3 or "odd" in given:
        return {"odd": random.choice(sorted(ODD))}
    if choice < 0.5:
        return {**given, "dtype": random.choice(DTYPES)}
    if choice < 0.75:
        return {**given, "layout": random.choice(LAYOUTS)}
    return {**given, "shape": _other_shape(random, given["shape"])}


def _other_shape(random: Random, shape: Sequence[int]) -> list[int]:
    other = list(shape)
    choice = random.randrange(4)
    if choice == 0 or not other:
        other.insert(random.randrange(len(other) + 1), random.choice((0, 1, 2)))
    elif choice == 1:
        del other[random.randrange(len(other))]
    else:
        other[random.randrange(len(other))] = random.choice((0, 1, 2, 3, 5, 64, 1000))
    return other if math.prod(other) <= _LARGEST else list(shape)


def value_of(described: Any) -> Any:
    """The object that is described: an array, an odd object, or lists and dicts of such."""
    if isinstance(described, list):
        return [value_of(item) for item in described]
    if "odd" in described:
        return ODD[described["odd"]]()
    if "names" in described:
        return {name: value_of(item) for name, item in described["names"]}
    if "tuple" in described:
        return tuple(value_of(item) for item in described["tuple"])
    return _laid_out(_array(described), described["layout"])


def _array(described: Description) -> np.ndarray:
    shape = described["shape"]
    numbers = np.random.default_rng(described["seed"]).integers(-3, 4, shape)
    dtype = ml_dtypes.bfloat16 if described["dtype"] == "bf16" else np.dtype(described["dtype"])
    if getattr(dtype, "names", None):
        return np.zeros(shape, dtype)
    return np.asarray(numbers).astype(dtype)


def _laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    if layout == "transposed":
        return array.T
    if layout == "reversed":
        return array[::-1] if array.ndim else array
    if layout == "stepped":
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    if layout == "broadcast":
        return np.broadcast_to(array[:1], array.shape) if array.ndim and len(array) else array
    if layout == "read-only":
        array.flags.writeable = False
        return array
    if layout in ("misaligned", "offset") and not array.dtype.hasobject and array.size:
        skipped = 1 if layout == "misaligned" else array.dtype.itemsize
        memory = np.zeros(array.nbytes + skipped, np.uint8)
        view = memory[skipped : skipped + array.nbytes].view(array.dtype).reshape(array.shape)
        view[...] = array
        return view
    return array


def odd_things(described: Any) -> list[str]:
    """The names of all odd objects inside a description."""
    if isinstance(described, list):
        return [name for item in described for name in odd_things(item)]
    if "odd" in described:
        return [described["odd"]]
    if "names" in described:
        return [name for _, item in described["names"] for name in odd_things(item)]
    return odd_things(described["tuple"]) if "tuple" in described else []
