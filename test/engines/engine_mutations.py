"""Engines that were changed at random: each is refused, or gives the right results."""

from __future__ import annotations

import random

import numpy as np
from engine_models import small_input, with_header

import dlc
from dlc.engines.saving import HEADER

x = small_input()


def mutated(content: bytes, choice: random.Random, tail: int) -> bytes:
    """`content` with a few bits flipped, bytes overwritten, cut off, added, moved, or a byte from `tail` on changed."""
    changed = bytearray(content)
    kind = choice.randrange(7)
    at = choice.randrange(len(changed) if choice.random() < 0.5 else 256)
    if kind == 0:
        for _ in range(choice.randint(1, 8)):
            changed[choice.randrange(len(changed))] ^= 1 << choice.randrange(8)
    elif kind == 1:
        changed[at] ^= 1 << choice.randrange(8)
    elif kind == 2:
        changed[at : at + choice.choice((1, 8, 4096))] = choice.randbytes(choice.choice((1, 8, 4096)))
    elif kind == 3:
        del changed[at:]
    elif kind == 4:
        changed[at:at] = choice.randbytes(choice.randint(1, 5000))
    elif kind == 5:
        other = choice.randrange(len(changed))
        changed[at : at + 512], changed[other : other + 512] = changed[other : other + 512], changed[at : at + 512]
    else:
        changed[choice.randrange(tail, len(changed))] = choice.randrange(256)
    return bytes(changed)


def check_mutations(content: bytes, count: int, seed: int) -> int:
    """Load and run `count` mutations; how many were refused. Others must give the right results."""
    expected, choice, refused = dlc.load(content)(x)[0], random.Random(seed), 0
    for _ in range(count):
        changed = mutated(content, choice, HEADER.unpack_from(content)[4])
        try:
            result = dlc.load(changed)(x)[0]
        except (dlc.RuntimeLoadError, dlc.TargetError):
            refused += 1
            continue
        np.testing.assert_array_equal(result, expected)
    return refused


def check_signed_mutations(content: bytes, count: int, seed: int) -> None:
    """Manifests with changed bytes and right sums are loaded or refused, not run: who writes right sums writes code, too."""
    begin, choice = HEADER.unpack_from(content)[4], random.Random(seed)
    for _ in range(count):
        text = bytearray(content[begin:])
        for _ in range(choice.randint(1, 3)):
            text[choice.randrange(len(text))] = choice.choice(b'0123456789{}[]",:-\\eux\x00\xff')
        try:
            dlc.load(with_header(content[:begin] + bytes(text), 1, begin, bytes(text)))
        except (dlc.RuntimeLoadError, dlc.TargetError):
            continue
