"""Numerics cases of bitcast: every pair of kinds of one width."""

from __future__ import annotations

from case import Case, spec

from dlc.dialects.dl.storage import STORAGE, bits_of

_PAIRS = (
    ("f64", "i64"),
    ("f32", "i32"),
    ("f16", "i16"),
    ("bf16", "i16"),
    ("f16", "bf16"),
    ("i8", "ui8"),
    ("i1", "ui8"),
    ("i1", "i8"),
    ("ui16", "bf16"),
    ("ui32", "f32"),
    ("ui64", "f64"),
)


def _fit(source: str, to: str) -> bool:
    return source != to and bits_of(source) == bits_of(to)


CASES = [
    *(Case("bitcast", ((3, 5),), {"to": to}, (source,)) for source, to in _PAIRS),
    *(Case("bitcast", (spec((3, 5), 1, 1 << 14),), {"to": source}, (to,)) for source, to in _PAIRS[:4]),
    *(Case("bitcast", ((3, 5),), {"to": to}, (source,), "small") for source in STORAGE for to in STORAGE if _fit(source, to)),
    *(Case("bitcast", ((3, 5),), {"to": "i8"}, (source,), "small") for source in STORAGE if bits_of(source) == 8),
    Case("bitcast", ((3, 5),), {"to": "f8E4M3FN"}, ("ui8",), "small"),
    Case("bitcast", ((4, 3),), {"to": "i8"}, ("ui8",)),
    Case("bitcast", ((),), {"to": "i32"}, ("f32",)),
    Case("bitcast", ((0, 2),), {"to": "i32"}, ("f32",)),
    Case("bitcast", ((2, 3),), {"to": "i1"}, ("i1",)),
]
