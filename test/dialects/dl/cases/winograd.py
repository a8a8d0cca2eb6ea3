"""Numeric cases of convolutions by Winograd's tiles: both sizes and strides, cut tiles, pads, batches, one and several blocks."""

from typing import Any

from case import Case, spec


def winograd(x: Any, weight: Any, bias: Any = None, **attributes: Any) -> Case:
    reason = "the size of a tile is known when it is compiled"
    return Case("winograd_conv", (x, weight, bias), attributes, dynamic=False, reason=reason)


def paired(x: Any, weight: Any, **attributes: Any) -> Case:
    """All numbers: what is beyond i16 or i32 wraps."""
    words = spec(weight, low=-(2.0**31), high=2.0**31, dtype="i32")
    image = spec(x, low=-(2.0**15), high=2.0**15)
    reason = "the size of a tile and of the image are known when it is compiled"
    return Case("pair_winograd_conv", (image, words), attributes, dtypes=("i16",), dynamic=False, reason=reason)


CASES = [
    winograd((1, 8, 8, 16), (16, 2, 16, 16), (32,), pads=[1, 1, 1, 1]),
    winograd((2, 7, 9, 5), (16, 1, 5, 3), pads=[1, 0, 2, 1]),
    winograd((1, 3, 3, 4), (16, 3, 4, 2), (6,)),
    winograd((3, 12, 7, 8), (36, 2, 8, 4), (8,), pads=[1, 1, 1, 1]),
    winograd((1, 6, 6, 3), (36, 1, 3, 5)),
    winograd((1, 60, 20, 64), (16, 4, 64, 16), (64,), pads=[1, 1, 1, 1]),
    winograd((0, 5, 5, 4), (16, 1, 4, 4), (4,)),
    winograd((1, 7, 10, 16), (16, 2, 16, 16), (32,), pads=[1, 1, 1, 1]),
    winograd((2, 6, 7, 4), (36, 1, 4, 8), (8,), pads=[1, 1, 1, 1]),
    winograd((1, 16, 16, 16), (16, 2, 16, 16), (32,), pads=[1, 1, 1, 1], stride=2),
    winograd((1, 13, 16, 16), (16, 2, 16, 16), pads=[1, 1, 1, 1], stride=2),
    winograd((1, 16, 14, 16), (16, 1, 16, 16), pads=[0, 1, 1, 1], stride=2),
    winograd((1, 14, 14, 16), (16, 2, 16, 16), (32,), pads=[1, 1, 1, 1], stride=2),
    winograd((2, 9, 12, 5), (16, 1, 5, 3), pads=[1, 0, 2, 0], stride=2),
    winograd((1, 3, 4, 4), (16, 3, 4, 2), (6,), stride=2),
    winograd((1, 61, 40, 64), (16, 4, 64, 16), (64,), pads=[1, 1, 1, 1], stride=2),
    paired((1, 8, 8, 16), (16, 2, 8, 16), pads=[1, 1, 1, 1]),
    paired((2, 7, 9, 6), (16, 1, 3, 3), pads=[1, 0, 2, 1]),
    paired((1, 7, 7, 6), (16, 1, 3, 16), pads=[1, 1, 1, 1]),
    paired((1, 60, 20, 64), (16, 4, 32, 16), pads=[1, 1, 1, 1]),
    paired((0, 5, 5, 4), (16, 1, 2, 4)),
]
