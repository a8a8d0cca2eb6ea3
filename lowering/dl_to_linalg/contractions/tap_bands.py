"""Convolutions whose taps often lie in the padding, as in DeepLab: results in bands along an axis, each with the taps it has."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from dlc.dialects.dl.types import Dim
from dlc.dialects.dl.window import Window
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class TapRange:
    """`count` results from `first` on along an axis, which take `taps` taps of the kernel from `tap` on.

    These read `size` elements from `start` on.
    """

    first: int
    count: int
    tap: int
    taps: int
    start: int
    size: int


def bands_of(window: Window, axis: int, size: Dim, count: object) -> list[TapRange]:
    """Bands of the `count` results along an axis of `size` that have the same taps inside of the image.

    Empty where sizes are not known, and where bands are one or many, save little, or have no tap at all.
    """
    taps, dilation, stride = window.kernel[axis], window.dilations[axis], window.strides[axis]
    if not isinstance(size, int) or not isinstance(count, int) or not isinstance(taps, int) or dilation == 1:
        return []
    found: list[TapRange] = []
    for (tap, number), places in itertools.groupby(range(count), lambda place: _inside(window, axis, size, taps, place)):
        if number == 0 or len(found) == policy().graph.tap_bands:
            return []
        first, *rest = places
        start = first * stride + tap * dilation - window.pads_begin[axis]
        found.append(TapRange(first, len(rest) + 1, tap, number, start, len(rest) * stride + (number - 1) * dilation + 1))
    kept = sum(band.count * band.taps for band in found)
    return found if len(found) > 1 and kept <= policy().graph.kept_taps * count * taps else []


def _inside(window: Window, axis: int, size: int, taps: int, place: int) -> tuple[int, int]:
    """The first tap of the result at `place` that lies in the image, and how many do."""
    origin = place * window.strides[axis] - window.pads_begin[axis]
    within = [tap for tap in range(taps) if 0 <= origin + tap * window.dilations[axis] < size]
    return (within[0], len(within)) if within else (0, 0)
