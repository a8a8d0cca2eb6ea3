"""Numerics cases of types that values are only stored in: every code of each, and floats all around its numbers."""

from __future__ import annotations

import numpy as np
from case import Case, InputSpec, array

from dlc.dialects.dl.storage import POWERS, ROUNDINGS, SMALL_FLOATS, SMALL_INTS, STORAGE
from dlc.dialects.dl.types import NUMPY_DTYPES

_SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, -1e-30, 464.0, 465.0, 61440.0, 61441.0]


def _codes(dtype: str) -> InputSpec:
    """Every value of a type."""
    bits = SMALL_INTS.get(dtype, int(dtype[1]) if dtype.startswith("f") else 8)
    codes = np.arange(1 << bits, dtype=np.uint8)
    return array(codes.astype(NUMPY_DTYPES[dtype]) if dtype in SMALL_INTS else codes.view(NUMPY_DTYPES[dtype]), dtype)


def _halves() -> np.ndarray:
    """Every seventh number of f16, which lie close around those of all small types, and halfway between them."""
    return np.arange(0, 1 << 16, 7).astype(np.uint16).view(np.float16).astype(np.float64)


def _close(dtype: str) -> np.ndarray:
    """The points halfway between numbers of a type, and f64 on both sides of them, which f32 does not tell apart."""
    codes = np.arange(SMALL_FLOATS[dtype].largest + 1, dtype=np.uint8).view(NUMPY_DTYPES[dtype]).astype(np.float64)
    middle = (codes[1:] + codes[:-1]) / 2
    return np.concatenate([middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf)])


def _floats(dtype: str) -> InputSpec:
    return array(np.concatenate([_SPECIAL, _halves(), _close(dtype)]))


CASES = [
    *(Case("cast", (_codes(dtype),), {"to": to}, name=f"all-{dtype}-to-{to}") for dtype in STORAGE for to in ("f32", "f16", "i8")),
    *(
        Case("cast", (_floats(dtype),), {"to": dtype, "saturate": saturate}, ("f64", "f32", "f16"), f"floats-to-{dtype}-{saturate}")
        for dtype in SMALL_FLOATS
        for saturate in (True, False)
    ),
    *(
        Case("cast", (array(np.arange(-40, 40)),), {"to": dtype}, ("i64", "i8", "f32", "f64"), f"low-bits-of-{dtype}")
        for dtype in SMALL_INTS
    ),
    *(
        Case("cast", (array([0, 1, 447, 449, 57343, 61441, 2**40]),), {"to": to}, ("i64", "ui64"), f"ints-to-{to}")
        for to in SMALL_FLOATS
    ),
    *(
        Case(
            "cast",
            (array(np.concatenate([_SPECIAL, _halves(), [3e38, 1.5, 3.0, -1.1]])),),
            {"to": POWERS, "rounding": rounding, "saturate": saturate},
            ("f32", "f16"),
            f"powers-{rounding}-{saturate}",
        )
        for rounding in ROUNDINGS
        for saturate in (True, False)
    ),
    Case("transpose", ((3, 5),), {"perm": [1, 0]}, STORAGE, "storage"),
    Case("pad", ((3, 5), None), {"low": [1, 0], "high": [0, -2]}, STORAGE, "storage"),
    Case("pad", ((3, 5), None), {"low": [1, 0], "high": [0, 2], "mode": "edge"}, ("f8E5M2", "i4"), "storage-edge"),
    Case("gather", ((4, 3), array([2, -1], "i64")), {"axis": 0}, STORAGE, "storage"),
    Case("update_slice", ((2, 6, 3), (2, 2, 3), array([3], "i64")), {}, STORAGE, "storage"),
]
