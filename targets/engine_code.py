"""The machine code of an engine: an image that the runtime maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CodeImage:
    """Linked code, position-independent.

    `content` are the segments text, rodata, relro (written while loading only) and data, whose bytes `sizes` gives, each whole
    pages; `zero` more bytes follow in memory. `relative` are pairs (offset, value): the word there becomes the address of the
    image plus the value. `imports` names functions of the runtime, and the offsets of the words that take their addresses.
    `entries` are offsets of functions by name.
    """

    content: bytes
    sizes: Mapping[str, int]
    zero: int
    relative: tuple[tuple[int, int], ...]
    imports: Mapping[str, tuple[int, ...]]
    entries: Mapping[str, int]
