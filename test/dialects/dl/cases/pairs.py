"""Pairs of bf16 numbers: odd rows, rows and columns of all kinds, blocks of several widths, a filled last block, windows."""

import numpy as np
from case import Case, array, spec

_STATIC = "the weights are static"
_RANDOM = np.random.default_rng(0)
_EDGES = [[0.0, -0.0, 1e-40, np.inf], [-np.inf, 3.4e38, 1.00390625, 1.01171875], [65280.0, 65535.0, -1e-3, 5.9e-39]]


def words(*shape: int) -> object:
    """Pairs of bf16 numbers between -3 and 3."""
    halves = _RANDOM.uniform(-3, 3, (2, *shape)).astype(np.float32).view(np.uint32) >> np.uint32(16)
    return array((halves[0] | halves[1] << np.uint32(16)).view(np.int32), dtype="i32")


CASES = [
    *(Case("bf16_pairs", (x,), dynamic=False, reason=_STATIC) for x in ((4, 6), (2, 7, 48), (3, 1, 1), (0, 5), (2, 8, 33))),
    Case("bf16_pairs", (array(_EDGES),), name="edges", dynamic=False, reason=_STATIC),
    *(
        Case("pair_matmul", (spec(rows), weights), columns, dtypes=("f32", "bf16"), dynamic=False, reason=_STATIC)
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
        Case("pair_conv", (spec(x), weights), attributes, dtypes=("f32", "bf16"), dynamic=False, reason=_STATIC)
        for x, weights, attributes in (
            ((2, 7, 9, 4), words(2, 3, 3, 2, 16), {"pads": [1, 1, 1, 1]}),
            ((1, 11, 8, 6), words(1, 3, 2, 3, 48), {"strides": [2, 2], "dilations": [2, 1], "pads": [0, 1, 2, 0]}),
            ((3, 10, 2), words(3, 5, 1, 7), {"strides": [3]}),
            ((1, 4, 5, 6, 2), words(1, 2, 2, 2, 1, 16), {}),
            ((1, 6, 6, 64), words(2, 1, 1, 32, 64), {}),
            ((0, 4, 4, 2), words(1, 3, 3, 1, 16), {}),
        )
    ),
]
