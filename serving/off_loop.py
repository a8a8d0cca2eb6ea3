"""Work that would keep the event loop from other requests, as far as Python's lock allows: reading JSON holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

_LARGE = 1 << 18
"""Bytes to read or write from which on a thread is worth its start."""


async def off_loop(size: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` returns, from another thread if it has `size` many bytes to do."""
    if size < _LARGE:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)
