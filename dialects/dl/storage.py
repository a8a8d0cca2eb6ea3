"""Element types that values are only stored in, one a byte: small floats and integers, which `dl.cast` reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc.dtypes import NUMPY_DTYPES


@dataclass(frozen=True)
class SmallFloat:
    """A float format: bits of exponent and significand, the exponent's bias, and the codes of what is no finite number.

    `largest` is the code of the greatest finite number. A format without infinity has None for its code; one without signed zeros
    has NaN there. Formats that hold neither saturate always.
    """

    exponent: int
    significand: int
    bias: int
    largest: int
    infinity: int | None
    nan: int
    has_negative_zero: bool = True

    @property
    def magnitude_bits(self) -> int:
        """Bits below the sign."""
        return self.exponent + self.significand

    @property
    def least_normal(self) -> float:
        """The smallest number with a full significand."""
        return float(2.0 ** (1 - self.bias))

    @property
    def has_nan(self) -> bool:
        """Whether there is a code for what is no number."""
        return self.nan != 1 << self.magnitude_bits or not self.has_negative_zero


SMALL_FLOATS = {
    "f8E4M3FN": SmallFloat(4, 3, 7, 0x7E, None, 0x7F),
    "f8E4M3FNUZ": SmallFloat(4, 3, 8, 0x7F, None, 0x80, has_negative_zero=False),
    "f8E5M2": SmallFloat(5, 2, 15, 0x7B, 0x7C, 0x7E),
    "f8E5M2FNUZ": SmallFloat(5, 2, 16, 0x7F, None, 0x80, has_negative_zero=False),
    "f6E2M3FN": SmallFloat(2, 3, 1, 0x1F, None, 0x20),
    "f6E3M2FN": SmallFloat(3, 2, 3, 0x1F, None, 0x20),
    "f4E2M1FN": SmallFloat(2, 1, 1, 0x07, None, 0x08),
}
"""What the names say: bits of exponent (E) and significand (M), finite numbers and NaN only (FN), no negative zero (UZ)."""

POWERS = "f8E8M0FNU"
"""Powers of two from 2^-127 to 2^127, and NaN: the exponent of an f32."""

SMALL_INTS = {"i4": 4, "ui4": 4, "i2": 2, "ui2": 2}
"""Integers by their bits; memory holds them in the lowest bits of a byte."""

STORAGE = (*SMALL_FLOATS, POWERS, *SMALL_INTS)
ROUNDINGS = ("up", "down", "nearest")
"""Towards which power of two numbers go that are none: away from zero, towards it, to the nearest one with halves up."""


def bits_of(dtype: str) -> int:
    """Bits of an element of any type; an i1 has a byte."""
    if dtype in SMALL_INTS:
        return SMALL_INTS[dtype]
    kind = SMALL_FLOATS.get(dtype)
    return 1 + kind.magnitude_bits if kind is not None else 8 * NUMPY_DTYPES[dtype].itemsize


def from_storage(array: np.ndarray, dtype: str) -> np.ndarray:
    """Stored values as f32 or i32, which hold them exactly."""
    return array.astype(np.int32 if dtype in SMALL_INTS else np.float32)


def to_storage(array: np.ndarray, dtype: str, saturate: bool, rounding: str) -> np.ndarray:
    """Floats, integers or i1 in a small type; integers are i32 and take the low bits."""
    target = NUMPY_DTYPES[dtype]
    if dtype in SMALL_INTS:
        return (array & ((1 << SMALL_INTS[dtype]) - 1)).astype(np.int8).view(np.uint8).astype(np.int8).astype(target)
    if dtype == POWERS:
        return _to_powers(array.astype(np.float32), saturate, rounding)
    wide = _odd(array) if array.dtype == np.float64 or array.dtype.kind != "f" else array
    if not saturate:
        return wide.astype(target)
    largest = float(np.array(SMALL_FLOATS[dtype].largest, np.uint8).view(target))
    return np.clip(wide, -largest, largest).astype(target)


def _odd(array: np.ndarray) -> np.ndarray:
    """f32 that round as f64 do: those that f32 does not hold go towards zero, to an odd last bit. ml_dtypes rounds f64 twice."""
    exact = array.astype(np.float64)
    near = exact.astype(np.float32)
    bits = near.view(np.int32)
    odd = (bits - (np.abs(near.astype(np.float64)) > np.abs(exact))) | 1
    inexact = (near != exact) & ~np.isnan(exact)
    return np.where(inexact, odd.astype(np.int32), bits).view(np.float32)


def _to_powers(array: np.ndarray, saturate: bool, rounding: str) -> np.ndarray:
    """The exponents of floats, whose sign does not count; infinity is NaN."""
    bits = array.view(np.uint32)
    exponent, rest = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    up = {"up": rest > 0, "down": np.zeros_like(rest, bool), "nearest": (rest > 0x400000) | ((rest == 0x400000) & (exponent > 0))}
    moved = exponent + (up[rounding] & (exponent < (0xFE if saturate else 0xFF)))
    return np.asarray(moved).astype(np.uint8).view(NUMPY_DTYPES[POWERS])
