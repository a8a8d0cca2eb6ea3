"""Bands of results that have the same taps inside of the image."""

from __future__ import annotations

import pytest

from dlc.dialects.dl.window import Window
from dlc.lowering.dl_to_linalg.contractions.tap_bands import TapRange, bands_of


def _window(taps: int, stride: int, pads: tuple[int, int], dilation: int) -> Window:
    return Window.of("", [taps], [stride], pads, [dilation])


def test_wide_taps_of_a_small_image() -> None:
    assert bands_of(_window(3, 1, (18, 18), 18), 0, 33, 33) == [
        TapRange(0, 15, 1, 2, 0, 33),
        TapRange(15, 3, 1, 1, 15, 3),
        TapRange(18, 15, 0, 2, 0, 33),
    ]


@pytest.mark.parametrize("size", [9, 10, 17])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("pads", [(4, 4), (3, 5), (6, 0)])
def test_bands_take_every_tap_inside_once(size: int, stride: int, pads: tuple[int, int]) -> None:
    window = _window(3, stride, pads, 4)
    (count,) = window.output_dims("", [size])
    assert isinstance(count, int)
    wanted = {
        (place, tap, place * stride + tap * 4 - pads[0])
        for place in range(count)
        for tap in range(3)
        if 0 <= place * stride + tap * 4 - pads[0] < size
    }
    bands = bands_of(window, 0, size, count)
    found = {
        (band.first + place, band.tap + tap, band.start + place * stride + tap * 4)
        for band in bands
        for place in range(band.count)
        for tap in range(band.taps)
    }
    assert not bands or found == wanted
    assert all(band.size == (band.count - 1) * stride + (band.taps - 1) * 4 + 1 for band in bands)


@pytest.mark.parametrize(
    ("window", "size", "count"),
    [
        (_window(3, 1, (1, 1), 1), 7, 7),  # neighbours
        (_window(3, 1, (2, 2), 2), 65, 65),  # little to save
        (_window(5, 1, (8, 8), 4), 14, 14),  # more bands than three
        (_window(2, 1, (9, 9), 2), 5, 21),  # results without any tap
        (_window(3, 1, (18, 18), 18), "h", "h"),  # sizes that are not known
    ],
)
def test_no_bands(window: Window, size: int | str, count: int | str) -> None:
    assert bands_of(window, 0, size, count) == []
