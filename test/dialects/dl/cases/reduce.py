"""Numerics cases of reductions."""

from __future__ import annotations

import math

from case import Case, array, spec

from dlc.dialects.dl.types import FLOATS

_NAN, _INF = math.nan, math.inf
_REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod")
_PLACES: tuple[tuple[tuple[int, ...], dict[str, object]], ...] = (
    ((), {}),
    ((7,), {}),
    ((3, 5), {"axes": (0,)}),
    ((3, 5), {"axes": (-1,), "keepdims": True}),
    ((3, 5), {"keepdims": True}),
    ((2, 3, 4), {"axes": (1,)}),
    ((2, 3, 4), {"axes": (2, 0)}),
    ((2, 3, 4), {"axes": (0, -2), "keepdims": True}),
    ((1, 6, 1, 3), {"axes": (2, 0), "keepdims": False}),
    ((3, 0), {"axes": (0,)}),
    ((3, 0), {"axes": (1,), "keepdims": True}),
    ((2, 3, 33), {"axes": (2,)}),
)
_WITH_NAN = array([[1.0, _NAN, 3.0], [-_INF, 2.0, _INF], [-1.0, -1.0, -2.0], [-_INF, -_INF, -_INF]])
_TIES = array([[3, 1, 3, 1], [2, 2, 2, 2], [1, 5, 0, 5]])
_SEARCHES: tuple[dict[str, object], ...] = (
    {"axis": 1},
    {"axis": -1, "select_last_index": True},
    {"axis": 1, "keepdims": True},
    {"axis": 0, "keepdims": True, "select_last_index": True},
)

CASES = [
    *(Case("reduce_sum", (spec(shape, 0.5, 2.5),), attributes) for shape, attributes in _PLACES),
    *(Case(op, (spec(shape, 0.5, 2.5),), attributes) for op in _REDUCTIONS[1:] for shape, attributes in _PLACES[-5:]),
    *(Case(op, (_WITH_NAN,), {"axes": (1,)}, FLOATS, "special") for op in _REDUCTIONS),
    *(Case(op, (spec((4, 9), -100, 100),), {"axes": (1,)}, name="signs") for op in _REDUCTIONS[:4]),
    Case("reduce_sum", (spec((5000,), 0.0, 1.0),), dtypes=("f16", "bf16"), name="accumulates-in-f32"),
    Case("reduce_mean", (array([[250, 251, 252]]),), {"axes": (1,)}, ("i64", "i32", "i16"), "integers"),
    *(Case(op, (_TIES,), attributes) for op in ("arg_max", "arg_min") for attributes in _SEARCHES),
    *(Case(op, (_WITH_NAN,), {"axis": 1}, FLOATS, "special") for op in ("arg_max", "arg_min")),
    *(Case(op, (_WITH_NAN,), {"axis": 1, "select_last_index": True}, FLOATS, "special-last") for op in ("arg_max", "arg_min")),
    *(Case(op, (shape,), {"axis": -1}) for op in ("arg_max", "arg_min") for shape in ((9,), (2, 1, 33), (0, 3), (2, 3, 1))),
    *(
        Case(op, (shape,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})
        for op in ("cumsum", "cumprod")
        for shape, axis in (((7,), 0), ((3, 5), -1), ((3, 1, 4), 0), ((2, 0), 1))
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    Case("cumsum", (spec((300,), 0.0, 1.0),), {"axis": 0}, ("f16", "bf16"), "accumulates-in-f32"),
    Case("cumprod", (spec((300,), 0.99, 1.01),), {"axis": 0}, ("f16", "bf16"), "accumulates-in-f32"),
]
