"""Products of bytes: all values of them, odd rows, blocks of several widths, a filled last block."""

from case import Case, spec

_WORDS = {"low": -(2.0**31), "high": 2.0**31, "dtype": "i32"}
_BYTES = {"low": 0, "high": 256}
_STATIC = "the weights are static"

CASES = [
    Case("byte_matmul", (spec(rows, **_BYTES), spec(weights, **_WORDS)), columns, dtypes=("ui8",), dynamic=False, reason=_STATIC)
    for rows, weights, columns in (
        ((5, 8), (3, 2, 16), {}),
        ((1, 256), (2, 64, 64), {}),
        ((13, 68), (2, 17, 48), {"columns": 95}),
        ((2, 3, 12), (1, 3, 5), {}),
        ((7, 4), (4, 1, 1), {}),
        ((0, 8), (3, 2, 16), {}),
    )
]
