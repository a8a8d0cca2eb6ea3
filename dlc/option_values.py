"""Values that options of commands and of `dlc.compile` have. Imports nothing, since `--help` and engines need no compiler."""

from __future__ import annotations

DEFAULT_TARGET = "cpu"
"""This machine, or the one that the module itself names."""

PRECISIONS = ("f32", "tf32", "bf16")
"""The types that operands of products may be rounded to: f32 is none, tf32 is for the tensor cores of a GPU."""

TILES = (0, 2, 4)
"""Most results of a Winograd tile along one axis: the sizes that there are matrices for, and none."""

ENDLESS = 1 << 40
"""A range of sizes that ends here or beyond has no end: no tensor has so many rows."""

_MOST_DIGITS = 18
"""Of a number in a text: more do not fit 64 bits, and Python refuses to read thousands of them."""


def whole_number(text: str) -> int | None:
    """The number that a text of decimal digits is; None for any other text, and for one that 64 bits may not hold."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
