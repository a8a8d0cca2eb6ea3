"""Edits of bytes that know nothing of what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    16,
    127,
    128,
    255,
    2**15,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**33,
    2**42,
    2**62,
    2**63 - 1,
    -(2**63),
)
"""Values at which sizes, counts and indices overflow or mean something of their own."""


def flip(random: Random, data: bytearray) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def overwrite(random: Random, data: bytearray) -> None:
    data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))


def truncate(random: Random, data: bytearray) -> None:
    del data[random.randrange(len(data)) :]


def delete(random: Random, data: bytearray) -> None:
    begin = random.randrange(len(data))
    del data[begin : begin + random.choice((1, 1, 2, 4, 16, 64))]


def insert(random: Random, data: bytearray) -> None:
    begin = random.randrange(len(data))
    data[begin:begin] = random.randbytes(random.choice((1, 2, 4, 16)))


def repeat(random: Random, data: bytearray) -> None:
    begin = random.randrange(len(data))
    part = data[begin : begin + random.choice((1, 4, 16, 64))]
    data[begin:begin] = part * random.choice((1, 1, 2, 8))


def varint(random: Random, data: bytearray) -> None:
    """Put a number as protobuf writes it over a byte."""
    begin = random.randrange(len(data))
    data[begin : begin + 1] = encoded(random.choice(NUMBERS))


def encoded(number: int) -> bytes:
    """A protobuf varint of 64 bits."""
    rest, out = number & (2**64 - 1), bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*out, rest])


_EDITS: Sequence[Callable[[Random, bytearray], None]] = (flip, flip, overwrite, overwrite, truncate, delete, insert, repeat, varint)


def edited(random: Random, data: bytes, other: bytes) -> bytes:
    """`data` after one to six edits; sometimes its head goes on as the tail of `other`."""
    found = bytearray(data)
    if random.random() < 0.1 and other:
        found = bytearray(data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other)) :])
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        if found:
            random.choice(_EDITS)(random, found)
    return bytes(found)
