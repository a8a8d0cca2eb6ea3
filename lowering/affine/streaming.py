"""From which size on results are better written past the caches: the bounds of affine-stream-stores."""

from __future__ import annotations

from dlc.targets.cpu.facts import CpuFacts

_CACHES = 4
"""Buffers of so many second-level caches and more are out of that cache when they are read again."""
_LAST_SHARE = 4
"""Where a line takes two stores, buffers below this part of the last cache are better off there: on a core of AVX2 with 512 KiB
and 32 MiB, max(x, 0) of 3 MiB takes 1.3 to 1.6 of the time past the caches, of 6 MiB 1.2, of 8 MiB 0.9 to 1.1 and of 12 MiB 0.6.
"""


def streamed_bytes(facts: CpuFacts) -> int:
    """The size of the smallest buffer that is worth it on the target."""
    fills_line = facts.vector_bits >= 8 * facts.line_bytes
    return max(_CACHES * facts.l2_bytes, 0 if fills_line else facts.l3_bytes // _LAST_SHARE)
