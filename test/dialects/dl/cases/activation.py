"""Numerics cases of activation functions."""

from __future__ import annotations

import math

from case import Case, array, spec

from dlc.dialects.dl.types import FLOATS, INTS

_NAN, _INF = math.nan, math.inf
_SPECIAL = array([-_INF, -40.0, -1.0, -0.0, 0.0, 1.0, 40.0, _INF, _NAN])
_ATTRIBUTES: dict[str, tuple[dict[str, object], ...]] = {
    "leaky_relu": ({}, {"alpha": 0.2}, {"alpha": -1.5}),
    "thresholded_relu": ({}, {"alpha": -0.5}),
    "elu": ({}, {"alpha": 2.0}, {"alpha": 1.6732632, "scale": 1.050701}, {"alpha": 2.0, "rate": 0.5}),
    "sigmoid": ({},),
    "hard_sigmoid": ({}, {"alpha": 0.5, "beta": 0.25}),
    "hard_swish": ({},),
    "silu": ({}, {"alpha": 1.702}),
    "softplus": ({},),
    "softsign": ({},),
    "mish": ({},),
    "gelu": ({}, {"approximate": "tanh"}),
}
_SHAPES = ((), (37,), (2, 0, 3), (3, 1, 9))

CASES = [
    *(Case("relu", (shape,)) for shape in (*_SHAPES, (2, 3, 4, 5))),
    Case("relu", (array([-_INF, -0.5, -0.0, 0.5, _INF, _NAN]),), dtypes=FLOATS, name="special"),
    *(
        Case(op, (spec(shape, -6, 6),), attributes)
        for op, choices in _ATTRIBUTES.items()
        for attributes in choices
        for shape in (_SHAPES if op == "gelu" and not attributes else _SHAPES[1:2])
    ),
    *(Case(op, (_SPECIAL,), dtypes=FLOATS, name="special") for op in _ATTRIBUTES),
    *(Case("prelu", shapes) for shapes in (((3, 5), (3, 5)), ((2, 3, 5), (3, 1)), ((4,), (1,)), ((2, 4), ()), ((2, 0), (1,)))),
    Case("prelu", (array([-3, -1, 0, 2, 100]), array([5])), dtypes=INTS[:4], name="integers"),
]
