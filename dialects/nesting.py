"""How deep a text of MLIR is nested: its parser recurses, and what is deeper than the stack ends the process."""

from __future__ import annotations

import re

import numpy as np

from dlc.diagnostics import Diagnostic
from dlc.errors import ParseError

MOST_NESTED = 500
"""Levels of brackets. The parser's stack of 8 MiB holds 4,000 to 8,000 of the greediest kinds, and threads may have less."""

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"([{<")] = 1
_STEPS[list(b")]}>")] = -1
_ARROW = re.compile(rb"->")
_SIGNS = re.compile(rb"(?:-\s*){%d}" % (MOST_NESTED + 1))


def check_nesting(text: bytes, name: str) -> None:
    """Raise `ParseError` at the place in the file `name` where brackets or signs are nested too deep."""
    place = _too_deep(text)
    if place is None:
        return
    line, column = text.count(b"\n", 0, place) + 1, place - text.rfind(b"\n", 0, place)
    message = f"nested more than {MOST_NESTED} levels deep; no model needs that, and the parser's stack has an end"
    raise ParseError("", [Diagnostic("error", message, name, line, column)])


def _too_deep(text: bytes) -> int | None:
    """The place of the first bracket beyond the limit; None where there is none."""
    if text.count(b"-") > MOST_NESTED and (signs := _SIGNS.search(text)):
        return signs.start()
    if max(map(text.count, (b"(", b"[", b"{", b"<"))) * 4 <= MOST_NESTED:
        return None
    depths = np.cumsum(_STEPS[np.frombuffer(_ARROW.sub(b"  ", text), np.uint8)], dtype=np.int32)
    place = int(np.argmax(depths > MOST_NESTED)) if len(depths) else 0
    return place if len(depths) and depths[place] > MOST_NESTED else None
