"""Numeric cases of dl.winograd_conv: both sizes of tiles, cut tiles, pads, batches, one and several blocks of channels and rows."""

from typing import Any

from case import Case


def winograd(x: Any, weight: Any, bias: Any = None, **attributes: Any) -> Case:
    reason = "the size of a tile and of the image are known when it is compiled"
    return Case("winograd_conv", (x, weight, bias), attributes, dynamic=False, reason=reason)


CASES = [
    winograd((1, 8, 8, 16), (16, 2, 16, 16), (32,), pads=[1, 1, 1, 1]),
    winograd((2, 7, 9, 5), (16, 1, 5, 3), pads=[1, 0, 2, 1]),
    winograd((1, 3, 3, 4), (16, 3, 4, 2), (6,)),
    winograd((3, 12, 7, 8), (36, 2, 8, 4), (8,), pads=[1, 1, 1, 1]),
    winograd((1, 6, 6, 3), (36, 1, 3, 5)),
    winograd((1, 60, 20, 64), (16, 4, 64, 16), (64,), pads=[1, 1, 1, 1]),
    winograd((0, 5, 5, 4), (16, 1, 4, 4), (4,)),
]
