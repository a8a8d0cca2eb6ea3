"""How sizes of dims are written on a command line: `batch=1..64`, `seq=32|64|128`, `seq=8..512:8`, `batch=4`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlc.errors import InvalidInputError
from dlc.option_values import ENDLESS, whole_number

FORM = "NAME=1..64, NAME=32|64|128, NAME=8..512:8 or NAME=4"
_RANGE = re.compile(r"(\d+)\.\.(\d*)(?::(\d+))?")

Sizes = int | range | list[int | range]


def read_spelled_sizes(texts: Sequence[str]) -> dict[str, Sizes]:
    """Sizes by the names of dims, as `shapes` of `dlc.compile` takes them; a text holds several dims between commas.

    `InvalidInputError` quotes what cannot be read.
    """
    found: dict[str, Sizes] = {}
    for text in (part for given in texts for part in given.split(",")):
        name, sign, sizes = text.partition("=")
        parts = [_part(part) for part in sizes.split("|")]
        known = [part for part in parts if part is not None]
        if not sign or not name or len(known) < len(parts):
            raise InvalidInputError(f"--sizes: error: expects {FORM} but got '{text}'")
        if name in found:
            raise InvalidInputError(f"--sizes: error: dim '{name}' is given twice; put its sizes together as {name}=32|64")
        found[name] = known[0] if len(known) == 1 else known
    return found


def _part(text: str) -> int | range | None:
    """A size, or a range to its last size; None for what is neither."""
    if (size := whole_number(text)) is not None:
        return size
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    start, step = whole_number(match[1]), whole_number(match[3] or "1")
    end = whole_number(match[2]) if match[2] else ENDLESS - 1
    return range(start, end + 1, step) if start is not None and end is not None and step else None
