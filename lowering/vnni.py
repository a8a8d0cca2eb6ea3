"""How narrow numbers are grouped in lanes of 32 bits for dot-product instructions."""

from __future__ import annotations

PAIR = 2
"""Numbers of 16 bits in a lane."""

QUAD = 4
"""Bytes in a lane."""

HALF_BITS = 16
"""Bits of each number of a pair."""

UPPER_HALF = -0x10000
"""The bits of a lane's upper number, as an i32."""
