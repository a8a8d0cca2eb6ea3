"""How much memory a call of a model may hold: as a person writes it, and where it comes from."""

from __future__ import annotations

import os
import re

from .errors import InvalidInputError, quoted

VARIABLE = "DLC_MEMORY_LIMIT"
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_LIMIT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MOST = 2**62


def parse_memory_limit(text: str | int, subject: str = "memory_limit") -> int:
    """Bytes of `2G`, `512MB`, `1.5g` or a plain number; `InvalidInputError`, which begins with `subject`, for anything else."""
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        raise InvalidInputError(f"{subject} is {quoted(text)}; give bytes, or a text like 2G")
    limit = text if isinstance(text, int) else _bytes_of(text)
    if not 1 <= limit <= _MOST:
        raise InvalidInputError(f"{subject} is {quoted(text)}; give bytes, 1 to 2^62, or a text like 2G")
    return int(limit)


def _bytes_of(text: str) -> float:
    """The bytes that a text says, infinite for more digits than a float holds; 0 for a text that says none."""
    found = _LIMIT.fullmatch(text.strip())
    return float(found[1]) * _UNITS[found[2].upper()] if found else 0


def memory_limit(given: str | int | None) -> int | None:
    """The limit in bytes that holds for a model: `given`, else that of `DLC_MEMORY_LIMIT`; None where there is neither."""
    if given is not None:
        return parse_memory_limit(given)
    text = os.environ.get(VARIABLE)
    return parse_memory_limit(text, VARIABLE) if text else None
