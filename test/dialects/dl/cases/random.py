"""Numerics cases of random numbers: each element type, seeds beyond one word, bounds."""

from __future__ import annotations

from case import Case

_F32 = ("f32",)

CASES = [
    *(Case("random_uniform", ((3, 4),), {"seed": 7, "to": to}, _F32) for to in ("f64", "f32", "f16", "bf16")),
    Case("random_uniform", ((2, 3, 1, 5),), {"seed": (1 << 62) + 12345}, None),
    Case("random_uniform", ((17,),), {"seed": 0, "low": -2.5, "high": 3.0}, _F32),
    Case("random_uniform", ((),), {"seed": 1}, _F32),
    Case("random_uniform", ((0, 3),), {"seed": 1}, _F32),
]
