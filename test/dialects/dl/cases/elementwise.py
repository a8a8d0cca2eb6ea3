"""Numerics cases of elementwise arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from case import Case, InputSpec, array, spec

from dlc.dialects.dl.types import FLOATS, INTS, NUMPY_DTYPES, SIGNED_INTS, UNSIGNED_INTS

_NAN, _INF = math.nan, math.inf
_SPECIAL = array([-_INF, -2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 3.75, _INF, _NAN])
_SMALL = [0, 1, 2, 3, 7, 100, 127]
_SIGNED = [-128, -127, -7, -3, -1, *_SMALL]
_UNARY = ("abs", "neg", "sign", "floor", "ceil", "round", "trunc")
_BROADCASTS = (((3, 5), (3, 5)), ((2, 1, 5), (3, 1)), ((4,), ()), ((), (2, 3)), ((1, 17), (9, 1)), ((0, 3), (1, 3)))


def _unary(op: str, dtypes: tuple[str, ...] | None = None) -> list[Case]:
    """Ranks 0 to 3, odd and empty sizes."""
    return [Case(op, (shape,), dtypes=dtypes) for shape in ((), (1,), (37,), (2, 0, 3), (2, 3, 9))]


def _pairs(op: str, values: list[int], dtypes: tuple[str, ...]) -> Case:
    """Every pair of fixed values that the op has a meaning for."""
    column = array([[value] for value in values])
    return Case(op, (column, array(_second(op, values))), dtypes=dtypes, name=f"pairs-of-{dtypes[0]}")


def _extremes(op: str, dtype: str) -> Case:
    """Smallest and greatest integers of one dtype against the numbers that make division and products special."""
    low, high = (int(end) for end in (np.iinfo(NUMPY_DTYPES[dtype]).min, np.iinfo(NUMPY_DTYPES[dtype]).max))
    values = sorted({low, low + 1, *((-1,) if low else ()), 0, 1, 2, high // 2, high // 2 + 1, high})
    pair = (_exactly([[value] for value in values], dtype), _exactly(_second(op, values), dtype))
    return Case(op, pair, dtypes=(dtype,), name=f"extremes-of-{dtype}")


def _exactly(values: list[Any], dtype: str) -> InputSpec:
    """Integers of which NumPy alone would make floats."""
    return array(np.array(values, NUMPY_DTYPES[dtype]))


def _second(op: str, values: list[int]) -> list[int]:
    """The values that may be the second operand: integers have no quotient by 0."""
    return [value for value in values if value or op not in ("div", "mod")]


def _floats(op: str, attributes: dict[str, bool] | None = None) -> Case:
    values = [-_INF, -3.5, -1.0, -0.0, 0.0, 0.75, 2.0, 5.5, _INF, _NAN]
    label = "fmod-of-floats" if attributes and attributes["fmod"] else "pairs-of-floats"
    return Case(op, (array([[value] for value in values]), array(values)), attributes or {}, FLOATS, label)


_CASTS = [Case("cast", (spec((2, 5), -100, 200),), {"to": to}, name=f"to-{to}") for to in NUMPY_DTYPES] + [
    Case(
        "cast",
        (array([-_INF, -1e30, -3e9, -129.5, -1.5, -0.5, 0.5, 127.5, 255.5, 300.0, 3e9, 1e30, _INF, _NAN]),),
        {"to": to},
        ("f64", "f32", "bf16"),
        f"saturates-to-{to}",
    )
    for to in ("i64", "i32", "i16", "i8", *UNSIGNED_INTS, "i1")
]
_CASTS += [
    Case("cast", (_exactly([0, 1, 2**15, 2**16 - 1], "ui16"),), {"to": to}, ("ui16",), f"ui16-to-{to}") for to in NUMPY_DTYPES
]
_CASTS += [
    Case("cast", (_exactly([0, 1, 2**31, 2**32 - 1], "ui32"),), {"to": to}, ("ui32",), f"ui32-to-{to}") for to in NUMPY_DTYPES
]
_CASTS += [
    Case("cast", (_exactly([0, 1, 2**53 + 1, 2**63, 2**64 - 1], "ui64"),), {"to": to}, ("ui64",), f"ui64-to-{to}")
    for to in NUMPY_DTYPES
]
_CASTS.append(Case("cast", ((2, 33),), {"to": "bf16", "flush": True}, dtypes=("f32", "f64"), name="flush"))

_POWERS = [
    Case("pow", (spec((3, 5), 0.1, 3), spec((5,), -3, 3)), dtypes=FLOATS, name="floats"),
    Case("pow", (array([-2.0, -0.0, 0.0, 1.0, 2.0, _INF, _NAN]), array([3.0, 2.0, 0.0, _NAN, -1.0, 0.5, 0.0])), dtypes=FLOATS),
    Case("pow", (spec((3, 5), -3, 3), spec((5,), -3, 4, "i64")), dtypes=FLOATS, name="int-exponent"),
    Case("pow", (spec((), 1, 4), spec((2, 3), 0, 3, "i32")), dtypes=FLOATS, name="scalar-base"),
    _pairs("pow", _SIGNED, SIGNED_INTS),
    _pairs("pow", _SMALL, UNSIGNED_INTS),
    Case("pow", (spec((3, 5), 0, 7), spec((5,), 0, 9, "i64")), dtypes=INTS, name="i64-exponent"),
    Case("pow", (spec((3, 5), 0, 5), spec((5,), 0, 4, "ui8")), dtypes=INTS, name="ui8-exponent"),
    Case("pow", (array([2, 3, 5, 9]), array([0.0, 1.5, 2.25, 0.5], "f32")), dtypes=INTS, name="float-exponent"),
]

CASES = [
    *_unary("abs"),
    *(Case(op, ((3, 37),)) for op in _UNARY),
    *(Case(op, (_SPECIAL,), dtypes=FLOATS, name="special") for op in _UNARY),
    *(Case(op, (array(_SIGNED),), dtypes=SIGNED_INTS, name="integers") for op in ("abs", "neg", "sign")),
    *(Case("add", shapes) for shapes in _BROADCASTS),
    *(Case(op, ((2, 1, 5), (3, 1))) for op in ("sub", "mul", "max", "min")),
    Case("div", ((2, 1, 5), spec((3, 1), 1, 4))),
    *(_pairs(op, _SIGNED, SIGNED_INTS) for op in ("add", "sub", "mul", "max", "min")),
    *(_floats(op) for op in ("add", "sub", "mul", "div", "max", "min")),
    *(case for op in ("div", "mod") for case in (_pairs(op, _SIGNED, SIGNED_INTS), _pairs(op, _SMALL, UNSIGNED_INTS))),
    *(_extremes(op, dtype) for op in ("mul", "div", "mod") for dtype in ("i32", "i64", "ui16", "ui32", "ui64")),
    *(_extremes(op, dtype) for op in ("add", "sub", "max", "min", "pow") for dtype in UNSIGNED_INTS),
    Case("mod", ((2, 1, 5), spec((3, 1), 1, 4)), dtypes=INTS),
    *(_floats("mod", {"fmod": fmod}) for fmod in (False, True)),
    Case("mod", (spec((3, 7), -50, 50), spec((7,), 1, 9)), {"fmod": True}),
    Case(
        "mod",
        (array([[value] for value in _SIGNED]), array(_second("mod", _SIGNED))),
        {"fmod": True},
        SIGNED_INTS,
        "fmod-of-ints",
    ),
    *_POWERS,
    Case("clip", ((3, 5),)),
    Case("clip", ((3, 5),), {"low": -1.0, "high": 2.0}, FLOATS),
    Case("clip", ((3, 5),), {"low": 0.0}),
    Case("clip", ((37,),), {"high": 1.0}),
    Case("clip", ((37,),), {"low": 2.0, "high": 1.0}, name="high-wins"),
    Case("clip", ((7,),), {"low": _INF}, name="all-inf"),
    Case("clip", (_SPECIAL,), {"low": -1.25, "high": 1.25}, FLOATS, "special"),
    *_CASTS,
]
