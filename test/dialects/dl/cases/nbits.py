"""Numerics cases of products with packed weights: few rows, for which words are read in the product, and many."""

from __future__ import annotations

from typing import Any

from case import Case, spec

_FLOATS = ("f64", "f32", "f16", "bf16")
_LOOSE = {"f32": 2e-4, "f16": 2e-2, "bf16": 2e-1}
_FEW, _MANY = 3, 20
_WHY = "words and scales are static"


def product(rows: Any, blocks: int, groups: int, width: int, scales: int, zeros: bool = False, **more: Any) -> Case:
    bits = more.pop("bits", 4)
    dtypes = more.pop("dtypes", ("f32",))
    lead = (rows,) if isinstance(rows, int) else rows
    inputs = (
        spec((*lead, groups * 32 // bits), -1.0, 1.0),
        spec((blocks, groups, width), -(2.0**31), 2.0**31 - 1, "i32"),
        spec((blocks, scales, width), -0.1, 0.1),
        spec((blocks, scales, width), -8.0, 8.0) if zeros else None,
    )
    return Case("nbits_matmul", inputs, {"bits": bits, **more}, dtypes, rtol=_LOOSE, atol=_LOOSE, dynamic=False, reason=_WHY)


CASES = [
    *(product(rows, 2, 8, 16, 4, zeros, dtypes=_FLOATS) for rows in (_FEW, _MANY) for zeros in (False, True)),
    *(product(rows, 2, 8, 16, 2, True, bits=bits, columns=27) for rows in (_FEW, _MANY) for bits in (2, 4, 8)),
    product((2, 3), 3, 4, 48, 1, columns=130),
    product((2, 3, 5), 1, 4, 16, 2, True),
    product(0, 1, 4, 16, 2),
    product(1, 1, 1, 16, 1, bits=2),
]
