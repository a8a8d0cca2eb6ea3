"""How a fast Fourier transform is split: radices, twiddle factors, and the numbers of a butterfly."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_RADIX = 13
"""The largest prime that has a butterfly; the work of one grows as the square of its radix."""


@dataclass(frozen=True)
class FftStage:
    """One stage of Cooley and Tukey, decimation in frequency: `blocks` transforms of `radix * rest` points each.

    With w = exp(-2 pi i / (radix * rest)), element `at` of part u of a block is w^(u * at) times result u of the butterfly over
    elements `at` of its `radix` parts; these parts are the blocks of the next stage.
    """

    blocks: int
    radix: int
    rest: int
    offset: int
    """Of this stage's factors, [radix - 1, rest], in the table."""


def radices(length: int) -> tuple[int, ...]:
    """The radices that a length is the product of, in the order of stages; a prime above `MOST_RADIX` stands last.

    Eights and fours first, as in pocketfft (M. Reinecke): these have the fewest products.
    """
    found: list[int] = []
    for radix in (8, 4):
        while length % radix == 0:
            found.append(radix)
            length //= radix
    if length % 2 == 0:
        found.insert(0, 2)
        length //= 2
    divisor = 3
    while divisor * divisor <= length:
        while length % divisor == 0:
            found.append(divisor)
            length //= divisor
        divisor += 2
    return (*found, length) if length > 1 else tuple(found)


def stages(length: int) -> list[FftStage]:
    """The stages of a transform of `length` points."""
    found, blocks, offset = [], 1, 0
    for radix in radices(length):
        rest = length // (blocks * radix)
        found.append(FftStage(blocks, radix, rest, offset))
        offset += (radix - 1) * rest
        blocks *= radix
    return found


def is_smooth(length: int) -> bool:
    """Whether each prime factor has a butterfly."""
    return max(radices(length), default=1) <= MOST_RADIX


def roots_of_unity(length: int, powers: np.ndarray) -> np.ndarray:
    """exp(-2 pi i * power / length), [2, *powers.shape] in f64: computed in the widest type and rounded once."""
    quarters, rest = np.divmod(4 * (powers % length), length)
    angles = rest.astype(np.longdouble) * (2 * np.arctan(np.longdouble(1)) / length)
    cos, sin = np.cos(angles), np.sin(angles)
    real = np.choose(quarters, [cos, -sin, -cos, sin])
    imaginary = np.choose(quarters, [-sin, -cos, sin, cos])
    return np.stack([real, imaginary]).astype(np.float64)


def twiddle_factors(length: int) -> np.ndarray:
    """The table of `dl.fft`, [2, length - 1] in f64: the real and the imaginary parts of the factors of each stage."""
    tables = [
        roots_of_unity(stage.radix * stage.rest, np.outer(np.arange(1, stage.radix), np.arange(stage.rest))).reshape(2, -1)
        for stage in stages(length)
    ]
    return np.concatenate(tables, axis=1)


def real_twiddle_factors(length: int) -> np.ndarray:
    """The table of `dl.rfft` and `dl.irfft`, [2, length] in f64: that of half the length, then the roots 0 to length / 2."""
    half = length // 2
    stages_of_half = twiddle_factors(half) if half > 1 else np.zeros((2, 0))
    return np.concatenate([stages_of_half, roots_of_unity(length, np.arange(half + 1))], axis=1)


@functools.lru_cache(maxsize=32)
def cosines(radix: int) -> tuple[Sequence[float], Sequence[float]]:
    """cos and sin of 2 pi k / radix for k in [0, radix), exactly symmetric in k and radix - k."""
    half = roots_of_unity(radix, np.arange(radix // 2 + 1))
    folded = [min(k, radix - k) for k in range(radix)]
    signs = [1 if k <= radix // 2 else -1 for k in range(radix)]
    return [float(half[0][k]) for k in folded], [float(-half[1][k] * sign) for k, sign in zip(folded, signs, strict=True)]
