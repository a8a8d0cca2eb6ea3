"""What relocations write into the linked code of an architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Patch = Callable[[bytearray, int, int, int], None]
"""Writes at an offset of the image what lies at another one, with the offset of the table of addresses at hand.

`OverflowError` where the code has too few bits for that.
"""


@dataclass(frozen=True)
class Relocations:
    """How code of one architecture refers to symbols: kinds are numbers of ELF relocations.

    `page` is what segments are padded to: the largest page of systems. `absolute` is an address that the loader writes,
    `by_table` refer to the word of a symbol in the table of addresses, `to_table` to the table, `calls` may reach an imported
    function by a jump, which `stub` makes for its offset and that of the word, in `stub_bytes`.
    """

    name: str
    page: int
    absolute: int
    by_table: frozenset[int]
    to_table: frozenset[int]
    calls: frozenset[int]
    patches: Mapping[int, Patch]
    stub: Callable[[int, int], bytes]
    stub_bytes: int


def write_signed(memory: bytearray, at: int, value: int, size: int) -> None:
    """Write `value` to the `size` bytes from `at` on; `OverflowError` where it has more."""
    memory[at : at + size] = value.to_bytes(size, "little", signed=True)
