"""Arrays whose memory touches a page that nobody may read or write: an access beyond the array ends the process at once.

x = guarded(np.ones((3, 5), np.float32), "end")      # x[3, 0] would be the first byte of the guard page
y = guarded_empty((7,), np.float16, "start")         # the byte before y[0] lies in a guard page

Tests that call compiled code with such arrays do it in a process of their own, because a fault cannot be caught.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

Edge = Literal["start", "end"]
EDGES: tuple[Edge, ...] = ("end", "start")
SUPPORTED = sys.platform.startswith("linux")
"""Whether this system lets us protect pages in the way that this file does."""

_NO_ACCESS = 0


def guarded(values: np.ndarray, edge: Edge = "end") -> np.ndarray:
    """A row-major copy of `values` that ends where a guard page begins, or begins where one ends."""
    copy = guarded_empty(values.shape, values.dtype, edge)
    copy[...] = values
    return copy


def guarded_empty(shape: Sequence[int], dtype: Any, edge: Edge = "end") -> np.ndarray:
    """A row-major array of zeros between two guard pages, next to the one at `edge`.

    The memory goes when the array and its views do. `OSError` when the system refuses to protect a page.
    """
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    pages = -(-size // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (0, pages + 1):
        _protect(begin + page * mmap.PAGESIZE)
    offset = mmap.PAGESIZE if edge == "start" else (pages + 1) * mmap.PAGESIZE - size
    return np.ndarray(tuple(shape), kind, memory, offset)


def _protect(address: int) -> None:
    """Forbid every access to the page at `address`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), _NO_ACCESS):
        raise OSError(ctypes.get_errno(), "cannot protect a page")
