"""Numeric cases of Fourier transforms: each radix, stages with vectors along elements, blocks and inner transforms."""

from __future__ import annotations

from typing import Any

from case import Case, array

from dlc.dialects.dl.fft_plan import real_twiddle_factors, twiddle_factors

_REASON = "the number of points and of factors is known when it is compiled"


def fft(batch: int, length: int, inner: int, **attributes: Any) -> Case:
    operands = ((batch, 2, length, inner), array(twiddle_factors(length)))
    return Case("fft", operands, attributes, dynamic=False, reason=_REASON)


def rfft(batch: int, length: int, inner: int) -> Case:
    return Case("rfft", ((batch, length, inner), array(real_twiddle_factors(length))), dynamic=False, reason=_REASON)


def irfft(batch: int, length: int, inner: int) -> Case:
    operands = ((batch, 2, length // 2 + 1, inner), array(real_twiddle_factors(length)))
    return Case("irfft", operands, dynamic=False, reason=_REASON)


CASES = [
    *(fft(2, length, 1) for length in (2, 3, 4, 5, 7, 8, 11, 13)),
    fft(1, 2 * 4 * 3 * 5, 1),
    fft(3, 9 * 7, 1, inverse=True),
    fft(1, 512, 1),
    fft(2, 30, 17, inverse=True),
    fft(0, 6, 4),
    rfft(2, 2, 3),
    rfft(1, 120, 1),
    rfft(2, 14, 16),
    irfft(2, 2, 3),
    irfft(1, 120, 1),
    irfft(2, 14, 16),
]
