"""Numerics cases of columns put together: ranks, strides, pads, dilations."""

from __future__ import annotations

from case import Case

_F32 = ("f32",)
_WINDOW = {"strides": (2, 1), "pads": (1, 0, 0, 1), "dilations": (1, 2)}

CASES = [
    Case("col2im", ((1, 8, 6),), {"image": (3, 4), "kernel": (2, 2)}),
    Case("col2im", ((2, 18, 12),), {"image": (6, 7), "kernel": (2, 3)} | _WINDOW, _F32),
    Case("col2im", ((2, 3, 5),), {"image": (7,), "kernel": (3,)}, _F32),
    Case("col2im", ((1, 8, 4),), {"image": (3, 2, 3), "kernel": (2, 2, 2)}, _F32),
    Case("col2im", ((0, 4, 6),), {"image": (3, 4), "kernel": (2, 2)}, _F32),
    Case("col2im", ((1, 2, 2),), {"image": (5,), "kernel": (2,), "strides": (3,)}, _F32),
]
