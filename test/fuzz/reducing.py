"""Makes a case that shows a finding smaller, step by step, as long as it shows the same (delta debugging)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
FirstThatFails = Callable[[Sequence[bytes]], "bytes | None"]
_AT_ONCE = 16


def without_parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """`items` without a half of them, without each quarter and so on, down to single ones."""
    size = len(items) // 2
    while size >= 1:
        for begin in range(0, len(items), size):
            yield [*items[:begin], *items[begin + size :]]
        size //= 2


def reduce(payload: bytes, smaller: Callable[[bytes], Iterator[bytes]], first_that_fails: FirstThatFails, seconds: float) -> bytes:
    """The smallest case found in `seconds`. `first_that_fails` gives the first of some candidates with the same finding."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = _step(payload, smaller(payload), first_that_fails, end)
        if found is None:
            return payload
        payload = found
    return payload


def _step(payload: bytes, candidates: Iterator[bytes], first_that_fails: FirstThatFails, end: float) -> bytes | None:
    seen, waiting = {payload}, []
    for candidate in candidates:
        if candidate in seen:
            continue
        seen.add(candidate)
        waiting.append(candidate)
        if len(waiting) == _AT_ONCE:
            found = first_that_fails(waiting)
            if found is not None or time.monotonic() > end:
                return found
            waiting = []
    return first_that_fails(waiting) if waiting else None
