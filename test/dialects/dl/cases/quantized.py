"""Products of bytes and of i16: all values of them, odd rows, blocks of several widths, a filled last block, windows."""

from case import Case, spec

_WORDS = {"low": -(2.0**31), "high": 2.0**31, "dtype": "i32"}
_BYTES = {"low": 0, "high": 256}
_SHORTS = {"low": -(2.0**15), "high": 2.0**15}
_STATIC = "the weights are static"

PRODUCTS = (
    ((5, 8), (3, 2, 16), {}),
    ((1, 256), (2, 64, 64), {}),
    ((13, 68), (2, 17, 48), {"columns": 95}),
    ((2, 3, 12), (1, 3, 5), {}),
    ((7, 4), (4, 1, 1), {}),
    ((0, 8), (3, 2, 16), {}),
)
CONVOLUTIONS = (
    ((2, 7, 9, 8), (2, 3, 3, 2, 16), {}),
    ((1, 11, 8, 12), (1, 3, 2, 3, 48), {"strides": [2, 2], "dilations": [2, 1]}),
    ((3, 10, 4), (3, 5, 1, 7), {"strides": [3]}),
    ((1, 4, 5, 6, 4), (1, 2, 2, 2, 1, 16), {}),
    ((1, 6, 6, 64), (2, 1, 1, 16, 64), {}),
    ((0, 4, 4, 4), (1, 3, 3, 1, 16), {}),
)


def pairs(weights: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of weights whose numbers come two to a word, from that of weights with four."""
    *outer, groups, width = weights
    return (*outer, 2 * groups, width)


CASES = [
    Case(op, (spec(x, **values), spec(shape(weights), **_WORDS)), attributes, dtypes=(dtype,), dynamic=False, reason=_STATIC)
    for op, cases in (("byte_matmul", PRODUCTS), ("byte_conv", CONVOLUTIONS))
    for x, weights, attributes in cases
    for dtype, values, shape in (("ui8", _BYTES, tuple), ("i16", _SHORTS, pairs))
]
