"""Numerics cases of the index family: reads and writes at positions, negative ones too."""

from __future__ import annotations

import math
from typing import Any

from case import Case, InputSpec, array, spec

from dlc.dialects.dl.types import FLOATS

_F32 = ("f32",)


_NO_DYNAMIC = "the size of an index tuple must be static"


def at(shape: Any, low: int, high: int, dtype: str = "i64") -> InputSpec:
    return spec(shape, low, high, dtype)


def scatter(reduction: str) -> list[Case]:
    settings = {"axis": 1, "reduction": reduction}
    repeated = array([[0, 0, -1], [2, -4, 2]], "i64")
    rows = array([[1], [0], [1]], "i64")
    return [
        Case("scatter_elements", ((2, 4), repeated, (2, 3)), settings),
        Case("scatter_nd", ((2, 3), rows, (3, 3)), {"reduction": reduction}, dynamic=False, reason=_NO_DYNAMIC),
    ]


CASES = [
    Case("gather", ((5, 4), at((3,), -5, 5)), {}),
    Case("gather", ((5, 4), at((2, 3), -4, 4, "i32")), {"axis": 1}, _F32),
    Case("gather", ((2, 5, 3), at((2, 2), 0, 5)), {"axis": -2}, _F32),
    Case("gather", ((2, 5, 3), array(-1, "i64")), {"axis": 1}, _F32),
    Case("gather", ((5,), array(4, "i64")), {}, _F32),
    Case("gather", ((5, 3), at((0,), 0, 5)), {}, _F32),
    Case("gather", ((0, 3), at((2, 0), 0, 5)), {}, _F32),
    Case("gather", ((5, 0), at((2,), 0, 5)), {}, _F32),
    Case("gather", ((1, 3), at((4,), 0, 1)), {}, _F32),
    Case("gather_elements", ((4, 3), at((4, 3), -4, 4)), {}),
    Case("gather_elements", ((4, 3), at((2, 5), -3, 3, "i32")), {"axis": 1}, _F32),
    Case("gather_elements", ((2, 4, 3), at((2, 6, 3), 0, 4)), {"axis": -2}, _F32),
    Case("gather_elements", ((4,), at((0,), 0, 4)), {}, _F32),
    Case("gather_nd", ((4, 3), at((2, 2), -3, 3)), {}, name="elements", dynamic=False, reason=_NO_DYNAMIC),
    Case("gather_nd", ((4, 3, 2), at((2, 5, 1), -4, 4)), {}, _F32, "slices", dynamic=False, reason=_NO_DYNAMIC),
    Case("gather_nd", ((2, 4, 3), at((2, 5, 1), 0, 4, "i32")), {"batch_dims": 1}, _F32, "batch", dynamic=False, reason=_NO_DYNAMIC),
    Case("gather_nd", ((2, 3, 4, 5), at((2, 3, 2), 0, 4)), {"batch_dims": 2}, _F32, "batches", dynamic=False, reason=_NO_DYNAMIC),
    Case("gather_nd", ((4, 3), at((2, 0), 0, 4)), {}, _F32, "copies", dynamic=False, reason=_NO_DYNAMIC),
    Case("gather_nd", ((4, 3), at((0, 1), 0, 4)), {}, _F32, "none", dynamic=False, reason=_NO_DYNAMIC),
    *scatter("none"),
    *scatter("add"),
    *scatter("mul"),
    *scatter("max"),
    *scatter("min"),
    Case("scatter_elements", ((3, 4), at((2, 3), -3, 3, "i32"), (2, 3)), {}, _F32),
    Case("scatter_elements", ((3, 4), at((0, 4), 0, 3), (0, 4)), {}, _F32),
    Case("scatter_nd", ((3, 4, 2), at((2, 3, 2), 0, 3), (2, 3, 2)), {}, _F32, dynamic=False, reason=_NO_DYNAMIC),
    Case("scatter_nd", ((3, 4), at((2, 2), -3, 3, "i32"), (2,)), {"reduction": "add"}, _F32, dynamic=False, reason=_NO_DYNAMIC),
    Case("scatter_nd", ((3,), at((0, 1), 0, 3), (0,)), {}, _F32, dynamic=False, reason=_NO_DYNAMIC),
    Case("top_k", ((3, 8), None), {"k": 3}),
    Case("top_k", ((3, 8), None), {"k": 3, "largest": False}),
    Case("top_k", ((3, 5, 2), None), {"k": 5, "axis": 1}, _F32),
    Case("top_k", ((6,), None), {"k": 0}, _F32),
    Case("top_k", ((3, 40), None), {"k": 40}),
    Case("top_k", ((2, 90), None), {"k": 3}),
    Case("top_k", ((2, 90, 2), None), {"k": 2, "axis": 1, "largest": False}, _F32),
    Case("top_k", (array([0.0, -0.0, -1.0, 0.0, -0.0]), None), {"k": 5}, FLOATS, "zeros"),
    Case("top_k", ((0, 6), None), {"k": 2}, _F32),
    Case("top_k", ((3, 8), array(3, "i64")), {}, None, "of_a_value"),
    Case("top_k", ((2, 90), array(70, "i64")), {"largest": False}, _F32, "of_many"),
    Case("top_k", ((2, 600), array(9, "i64")), {}, _F32, "of_long_rows"),
    Case("top_k", ((2, 6), array(0, "i64")), {}, _F32, "of_none"),
    Case("top_k", ((1, 2100), array(40, "i64")), {}, ("f32", "ui32"), "of_many_groups"),
    Case("top_k", ((70, 3), array(70, "i64")), {"axis": 0, "largest": False}, _F32, "of_columns"),
    Case("top_k", (array([1.0, math.nan, 3.0, -math.inf, 3.0, math.nan]), None), {"k": 6}, FLOATS, "special"),
    Case("top_k", (array([1.0, math.nan, 3.0, -math.inf, 3.0]), None), {"k": 5, "largest": False}, FLOATS, "specials"),
    Case("update_slice", ((2, 6, 3), (2, 2, 3), array([3], "i64")), {}),
    Case("update_slice", ((2, 6, 3), (2, 2, 3), array([-3, 9], "i32")), {}, _F32, "per_row"),
    Case("update_slice", ((2, 6, 3), (2, 3, 3), array([5, 13], "i64")), {"circular": True}, _F32, "circular_per_row"),
    Case(
        "update_slice", ((2, 5), (2, 3), array([2**63 - 1, -(2**63)], "i64")), {"axis": 1, "circular": True}, _F32, "circular_far"
    ),
    Case("update_slice", ((6, 3), (4, 3), array([-1], "i64")), {"axis": 0, "circular": True}, _F32, "circular"),
    Case("update_slice", ((2, 6), (2, 1), array([8], "i64")), {"axis": 1, "circular": True}, _F32, "circular_one"),
    Case("update_slice", ((2, 6), (2, 6), array([4], "i64")), {"axis": -1}, _F32, "all"),
    Case("update_slice", ((2, 6), (2, 0), array([4], "i64")), {"axis": -1}, _F32, "none"),
    Case("reverse_sequence", ((4, 3), array([4, 0, 2], "i64"))),
    Case("reverse_sequence", ((2, 3, 5, 2), array([3, 5, 1], "i32")), {"axis": -2, "batch_axis": 1}, _F32),
    Case("reverse_sequence", ((2, 0), array([0, 0], "i64")), {"axis": 1, "batch_axis": 0}, _F32),
]
