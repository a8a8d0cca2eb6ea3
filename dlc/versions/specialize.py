"""After how many calls the sizes of a call get a version of their own."""

from __future__ import annotations

import os

from dlc.errors import InvalidInputError, quoted
from dlc.option_values import whole_number

VARIABLE = "DLC_SPECIALIZE"
CALLS = 100
"""Calls of the same sizes that `auto` waits for: a version is worth some seconds of one processor from then on."""


def specialize_after(given: str | int | None) -> int | None:
    """The calls to wait for, None for ever: `given` is `auto`, `off` or a number; None takes that of `DLC_SPECIALIZE`."""
    subject, value = ("specialize", given) if given is not None else (VARIABLE, os.environ.get(VARIABLE, "off") or "off")
    if value in ("off", "auto"):
        return CALLS if value == "auto" else None
    calls = whole_number(value if isinstance(value, str) else quoted(value))
    if not calls:
        raise InvalidInputError(f"{subject} is {quoted(value)}; give auto, off, or a number of calls from 1 on")
    return calls
