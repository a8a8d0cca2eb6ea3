"""The levels of a CPU's memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cache:
    """One level of cache, as one core sees it.

    `bytes` are held in sets of `ways` lines of `line` bytes. A core that reads line after line gets `bytes_per_cycle`. The level is
    shared by `shared_by` cores, itself among them; while all read and write there, each gets `busy_bytes_per_cycle` (0: as many as
    alone). A load whose address is known late has its value after `latency` cycles.
    """

    bytes: int = 32 * 1024
    ways: int = 8
    line: int = 64
    bytes_per_cycle: float = 64.0
    latency: float = 5.0
    shared_by: int = 1
    busy_bytes_per_cycle: float = 0.0

    @property
    def way_bytes(self) -> int:
        """Bytes after which the next line shares a set with the first."""
        return max(self.line, self.bytes // max(1, self.ways))

    @property
    def busy_line_cycles(self) -> int:
        """Cycles after which a core has the next line while others use the level, too."""
        return max(1, round(self.line / (self.busy_bytes_per_cycle or self.bytes_per_cycle)))


@dataclass(frozen=True)
class Memory:
    """Memory beyond the caches: what one core that reads in order gets in a cycle, what all get together, cycles of a late load."""

    bytes_per_cycle: float = 4.0
    total_bytes_per_cycle: float = 16.0
    latency: float = 300.0


@dataclass(frozen=True)
class Tlb:
    """Translations of addresses that a core keeps: pages, and bytes of a page."""

    entries: int = 1536
    page_bytes: int = 4096

    @property
    def reach(self) -> int:
        """Bytes whose translations are there at once."""
        return self.entries * self.page_bytes
