"""Numerics cases of the generate family: ranges, triangles and one-hot vectors."""

from __future__ import annotations

from typing import Any

from case import Case, array, spec

from dlc.dialects.dl.types import FLOATS, NUMERIC, UNSIGNED_INTS

_F32 = ("f32",)
_SIGNED = tuple(dtype for dtype in NUMERIC if dtype not in UNSIGNED_INTS)


def numbers(start: float, limit: float, step: float, dtypes: Any) -> Case:
    operands = (array(start), array(limit), array(step))
    return Case("range", operands, {}, dtypes, f"{start}to{limit}by{step}")


CASES = [
    numbers(0, 7, 1, NUMERIC),
    numbers(3, 11, 3, NUMERIC),
    numbers(5, -5, -2, _SIGNED),
    numbers(1, 1, 1, NUMERIC),
    numbers(1, 5, -1, _SIGNED),
    numbers(0.5, 2.25, 0.25, FLOATS),
    numbers(1, 0, -0.125, FLOATS),
    Case("trilu", ((3, 4),)),
    Case("trilu", ((3, 4),), {"upper": False}),
    Case("trilu", ((2, 4, 3),), {"k": 1}, _F32),
    Case("trilu", ((2, 4, 3),), {"k": -2, "upper": False}, _F32),
    Case("trilu", ((3, 3),), {"k": 9}, _F32),
    Case("trilu", ((0, 3),), {}, _F32),
    Case("one_hot", (spec((2, 3), -4, 6), array([2, 5], "f32"), None), {"depth": 5}),
    Case("one_hot", (spec((2, 3), 0, 4, "i64"), spec((2,)), None), {"depth": 4, "axis": 0}),
    Case("one_hot", (spec((2, 3), 0, 4), array([0, 1], "f32"), None), {"depth": 4, "axis": 1}, ("i64",)),
    Case("one_hot", (spec((2, 3), 0, 4), array([0, 1], "f32"), None), {"depth": 4, "axis": -2}, ("i64",)),
    Case("one_hot", (array(2), array([0, 1], "f32"), None), {"depth": 4}, ("i64",)),
    Case("one_hot", ((0,), array([0, 1], "f32"), None), {"depth": 3}, ("i64",)),
    Case("one_hot", (spec((3,), 0, 4), array([0, 1], "f32"), None), {"depth": 0}, ("i64",)),
    Case("one_hot", (spec((2, 3), -4, 6), array([2, 5], "f32"), array(5, "i64")), {"axis": 1}, ("i64",)),
    Case("one_hot", (spec((3,), 0, 4), array([0, 1], "f32"), array(0, "i64")), {}, ("i64",), "of_none"),
]
