"""Numerics cases of elementary functions."""

from __future__ import annotations

import math

from case import Case, array, spec

from dlc.dialects.dl.types import FLOATS

_NAN, _INF = math.nan, math.inf
_DOMAINS = {
    "exp": (-20.0, 11.0),
    "log": (0.001, 50.0),
    "log1p": (-0.9, 20.0),
    "sqrt": (0.0, 100.0),
    "rsqrt": (0.01, 100.0),
    "reciprocal": (0.1, 10.0),
    "erf": (-4.0, 4.0),
    "sin": (-20.0, 20.0),
    "cos": (-20.0, 20.0),
    "tan": (-1.4, 1.4),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atan": (-20.0, 20.0),
    "sinh": (-8.0, 8.0),
    "cosh": (-8.0, 8.0),
    "tanh": (-8.0, 8.0),
    "asinh": (-20.0, 20.0),
    "acosh": (1.0, 20.0),
    "atanh": (-0.99, 0.99),
}
"""The range of arguments where the result is finite and well conditioned."""

_SPECIAL = array([-_INF, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, _INF, _NAN])

CASES = [
    *(Case(op, (spec((3, 1, 37), *domain),)) for op, domain in _DOMAINS.items()),
    *(Case("exp", (shape,)) for shape in ((), (2, 0, 3))),
    *(Case(op, (_SPECIAL,), dtypes=FLOATS, name="special") for op in _DOMAINS),
]
