"""Numerics cases of comparisons, logic on bits and selection."""

from __future__ import annotations

import math

from case import Case, array, spec

from dlc.dialects.dl.types import FLOATS, INTS, UNSIGNED_INTS

_NAN, _INF = math.nan, math.inf
_VALUES = [-_INF, -1.0, -0.0, 0.0, 1.0, _INF, _NAN]
_BROADCASTS = (((3, 5), (3, 5)), ((2, 1, 5), (3, 1)), ((4,), ()), ((), ()), ((1, 17), (9, 1)), ((0, 3), (1, 3)))
_AMOUNTS = array([[-1], [0], [1], [5], [7], [8], [15], [31], [63], [64], [100]])
_UNSIGNED_AMOUNTS = array([[0], [1], [7], [8], [200]])

CASES = [
    *(Case("equal", shapes) for shapes in _BROADCASTS),
    *(Case(op, _BROADCASTS[1]) for op in ("not_equal", "less", "less_equal")),
    *(
        Case(op, (array([[value] for value in _VALUES]), array(_VALUES)), dtypes=FLOATS, name="special")
        for op in ("equal", "not_equal", "less", "less_equal")
    ),
    *(
        Case(op, (array([[0], [127], [128], [255]]), array([0, 127, 128, 255])), dtypes=UNSIGNED_INTS, name="unsigned")
        for op in ("less", "less_equal")
    ),
    *(Case(op, (array(_VALUES),), dtypes=FLOATS, name="special") for op in ("isnan", "isinf")),
    *(Case(op, (shape,)) for op in ("isnan", "isinf") for shape in ((), (3, 5))),
    Case("isinf", (array(_VALUES),), {"detect_negative": False}, FLOATS),
    Case("isinf", (array(_VALUES),), {"detect_positive": False}, FLOATS),
    Case("isinf", (array(_VALUES),), {"detect_positive": False, "detect_negative": False}, FLOATS),
    *(Case(op, shapes) for op in ("and", "or", "xor") for shapes in _BROADCASTS[1:3]),
    *(Case("not", (shape,)) for shape in ((), (37,))),
    *(Case(op, (spec((3, 5), -100, 100), spec((5,), 0, 7))) for op in ("shift_left", "shift_right")),
    *(
        Case(op, (array([-128, -3, -1, 0, 1, 3, 127]), _AMOUNTS), dtypes=INTS[:4], name="amounts")
        for op in ("shift_left", "shift_right")
    ),
    *(
        Case(op, (array([0, 1, 3, 127, 255]), _UNSIGNED_AMOUNTS), dtypes=("ui8",), name="unsigned-amounts")
        for op in ("shift_left", "shift_right")
    ),
    Case("where", (spec((3, 5), dtype="i1"), (3, 5), (3, 5)), dtypes=("f32", "i1", "ui8", "bf16")),
    Case("where", (spec((3, 5), dtype="i1"), (3, 5), ()), dtypes=("f64", "f16", "i64", "i32", "i16", "i8")),
    Case("where", (spec((4, 1), dtype="i1"), (1, 5), (2, 1, 1)), dtypes=("f32", "i64")),
    Case("where", (spec((), dtype="i1"), (2, 3), (3,)), dtypes=("f32",)),
    Case("where", (spec((0, 1), dtype="i1"), (3,), (1, 3)), dtypes=("f32",)),
    Case("assert", ((2, 3), array([[True], [True]], "i1")), {"message": "no"}),
    Case("assert", ((), spec((0,), dtype="i1")), {"message": "no"}, ("f32",)),
]
