"""Products with wide results: batches that broadcast, empty sums, windows of all kinds."""

from case import Case, spec

_TYPES = ("f16", "bf16")

CASES = [
    *(
        Case("widening_matmul", (spec(lhs), spec(rhs)), {}, dtypes=_TYPES)
        for lhs, rhs in (
            ((5, 8), (8, 16)),
            ((1, 256), (256, 64)),
            ((2, 3, 4), (4, 5)),
            ((2, 1, 3, 4), (5, 4, 2)),
            ((3, 0), (0, 4)),
        )
    ),
    *(
        Case("widening_conv", (spec(x), spec(weight)), attributes, dtypes=_TYPES)
        for x, weight, attributes in (
            ((2, 7, 9, 8), (3, 3, 8, 16), {"pads": [1, 1, 1, 1]}),
            ((1, 11, 8, 6), (3, 2, 6, 5), {"strides": [2, 2], "dilations": [2, 1], "pads": [0, 1, 2, 0]}),
            ((3, 10, 4), (5, 4, 7), {"strides": [3]}),
            ((1, 4, 5, 6, 2), (2, 2, 2, 2, 3), {}),
            ((1, 6, 6, 32), (1, 1, 32, 16), {}),
            ((0, 4, 4, 2), (3, 3, 2, 4), {}),
        )
    ),
]
