"""What the arithmetic of kernels means, on NumPy's numbers and vectors; `index` is Python's int. For `gpu_interpreter.py`.

Integers of MLIR have no sign: NumPy's signed types hold their bits, and ops without a sign see them as other numbers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

UNSIGNED_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "shrui": operator.rshift,
    "divui": operator.floordiv,
    "remui": operator.mod,
    "minui": np.minimum,
    "maxui": np.maximum,
}
"""By the names of ops of `arith`."""
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "ne": operator.ne,
}


def unsigned(value: Any) -> Any:
    """The bits of integers as numbers from 0 on."""
    array = np.asarray(value)
    if array.dtype == np.bool_:
        return array.astype(np.uint8)[()]
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))[()] if array.dtype.kind == "i" else array[()]


def signed(value: Any) -> Any:
    """Integers as they are, where one of a single bit is 0 or -1."""
    array = np.asarray(value)
    return (-array.astype(np.int8))[()] if array.dtype == np.bool_ else array[()]


def of_bits(op: str, one: Any, other: Any) -> Any:
    """An op of `arith` on integers without a sign."""
    found = np.asarray(UNSIGNED_OPS[op](unsigned(one), unsigned(other)))
    if isinstance(one, int):
        return int(found.astype(np.uint64).view(np.int64))
    return found.astype(bool)[()] if np.asarray(one).dtype == np.bool_ else found.view(np.asarray(one).dtype)[()]


def divided(one: Any, other: Any) -> Any:
    """The quotient rounded to zero. Of a division by 0, which has none, this is 0."""
    quotient = abs(one) // abs(other) if np.all(other) else one * 0
    return quotient * np.sign(one) * np.sign(other) if not isinstance(one, int) else int(math.copysign(1, one * other)) * quotient


def remainder(one: Any, other: Any) -> Any:
    """What `divided` leaves; it has the sign of `one`."""
    return one - divided(one, other) * other


def cast(value: Any, dtype: str, is_signed: bool = True) -> Any:
    """To another type. Integers wrap around; one of a single bit is what `signed` or `unsigned` says."""
    array = np.asarray(signed(value) if is_signed else unsigned(value))
    if dtype == "index":
        return int(array)
    if dtype == "bool_":
        return (array.astype(np.int64) & 1).astype(bool)[()]
    return array.astype(dtype)[()]


def to_unsigned(value: Any, dtype: str) -> Any:
    """`arith.fptoui`: to an integer without a sign, whose bits are given as `dtype`."""
    kind = np.dtype(dtype)
    return np.asarray(value).astype(np.dtype(f"u{kind.itemsize}")).view(kind)[()]


def bits(value: Any, dtype: str) -> Any:
    """`arith.bitcast`."""
    return np.asarray(value).view(dtype)[()]


def compared(predicate: str, one: Any, other: Any) -> Any:
    """`arith.cmpf`."""
    unordered = np.isnan(one) | np.isnan(other)
    if predicate in ("true", "false"):
        return np.zeros_like(unordered) == (predicate == "false")
    if predicate in ("uno", "ord"):
        return unordered == (predicate == "uno")
    found = _COMPARED[predicate[1:]](one, other)
    return found | unordered if predicate[0] == "u" else found & ~np.asarray(unordered)


def bits_set(value: Any) -> Any:
    """`math.ctpop`."""
    return type(value)(int(unsigned(value)).bit_count())


def leading_zeros(value: Any) -> Any:
    """`math.ctlz`."""
    return type(value)(8 * np.asarray(value).dtype.itemsize - int(unsigned(value)).bit_length())


def rounded(value: Any) -> Any:
    """`math.round`: halves go away from 0."""
    return np.trunc(value + np.copysign(type(value)(0.5), value))


NAMES = {
    "_of_bits": of_bits,
    "_unsigned": unsigned,
    "_divided": divided,
    "_remainder": remainder,
    "_cast": cast,
    "_to_unsigned": to_unsigned,
    "_bits": bits,
    "_compared": compared,
    "_bits_set": bits_set,
    "_leading_zeros": leading_zeros,
    "_rounded": rounded,
}
