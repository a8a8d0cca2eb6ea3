"""Groups of narrow numbers of all kinds: odd rows, blocks of several widths, a filled last block, windows."""

import numpy as np
from case import Case, array, spec

_STATIC = "the weights are static"
_RANDOM = np.random.default_rng(0)
_EDGES = [[0.0, -0.0, 1e-40, np.inf], [-np.inf, 3.4e38, 1.00390625, 1.01171875], [65280.0, 65535.0, -1e-3, 5.9e-39]]


def words(*shape: int) -> object:
    """Pairs of bf16 numbers between -3 and 3."""
    halves = _RANDOM.uniform(-3, 3, (2, *shape)).astype(np.float32).view(np.uint32) >> np.uint32(16)
    return array((halves[0] | halves[1] << np.uint32(16)).view(np.int32), dtype="i32")


_GROUPS = {"low": -(2.0**31), "high": 2.0**31, "dtype": "i32"}
_BYTES = {"low": 0, "high": 256}
_SHORTS = {"low": -(2.0**15), "high": 2.0**15}

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
    *(Case("bf16_pairs", (x,), dynamic=False, reason=_STATIC) for x in ((4, 6), (2, 7, 48), (3, 1, 1), (0, 5), (2, 8, 33))),
    Case("bf16_pairs", (array(_EDGES),), name="edges", dynamic=False, reason=_STATIC),
    *(
        Case("vnni_matmul", (spec(rows), weights), columns, dtypes=("f32", "bf16"), dynamic=False, reason=_STATIC)
        for rows, weights, columns in (
            ((5, 4), words(3, 2, 16), {}),
            ((1, 128), words(2, 64, 64), {}),
            ((13, 34), words(2, 17, 48), {"columns": 95}),
            ((2, 3, 6), words(1, 3, 5), {}),
            ((7, 2), words(4, 1, 1), {}),
            ((0, 4), words(3, 2, 16), {}),
        )
    ),
    *(
        Case("vnni_conv", (spec(x), weights), attributes, dtypes=("f32", "bf16"), dynamic=False, reason=_STATIC)
        for x, weights, attributes in (
            ((2, 7, 9, 4), words(2, 3, 3, 2, 16), {"pads": [1, 1, 1, 1]}),
            ((1, 11, 8, 6), words(1, 3, 2, 3, 48), {"strides": [2, 2], "dilations": [2, 1], "pads": [0, 1, 2, 0]}),
            ((3, 10, 2), words(3, 5, 1, 7), {"strides": [3]}),
            ((1, 4, 5, 6, 2), words(1, 2, 2, 2, 1, 16), {}),
            ((1, 6, 6, 64), words(2, 1, 1, 32, 64), {}),
            ((0, 4, 4, 2), words(1, 3, 3, 1, 16), {}),
        )
    ),
    *(
        Case(op, (spec(x, **values), spec(shape(weights), **_GROUPS)), attributes, dtypes=(dtype,), dynamic=False, reason=_STATIC)
        for op, cases in (("vnni_matmul", PRODUCTS), ("vnni_conv", CONVOLUTIONS))
        for x, weights, attributes in cases
        for dtype, values, shape in (("ui8", _BYTES, tuple), ("i16", _SHORTS, pairs))
    ),
]
