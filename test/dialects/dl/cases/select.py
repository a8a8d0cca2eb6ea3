"""Numerics cases of ops whose data decide how much they give: none, all, and nothing to look at, too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from case import Case, InputSpec, array, spec

from dlc.dialects.dl.types import ALL_DTYPES, FLOATS

_F32 = ("f32",)
_GENERATOR = np.random.default_rng(5)


def suppression(
    scores: Any, most: int, limit: float, least: float | None = None, name: str = "", boxes: Any = None, **attributes: Any
) -> Case:
    """Boxes that overlap often, of as many as there are scores."""
    low, high = _GENERATOR.uniform(0, 6, (*np.shape(scores)[::2], 2)), _GENERATOR.uniform(-4, 4, (*np.shape(scores)[::2], 2))
    edges = np.concatenate([low, np.abs(high) if attributes else low + high], -1) if boxes is None else boxes
    threshold = None if least is None else array(least, "f32")
    inputs = (array(edges, "f32"), array(scores, "f32"), array(most, "i64"), array(limit, "f32"), threshold)
    return Case("non_max_suppression", inputs, attributes, _F32, name or f"{'x'.join(map(str, np.shape(scores)))}_{most}_{least}")


def mask(count: int, share: float) -> InputSpec:
    return array(_GENERATOR.uniform(0, 1, count) < share, "i1")


CASES = [
    Case("nonzero", (spec((3, 7), -2, 2),)),
    Case("nonzero", (spec((2, 3, 1, 4), -2, 2),), {}, ("i32", "i1")),
    Case("nonzero", (spec((200,), -2, 2),), {}, ("i32",)),
    Case("nonzero", (array([0.0, -0.0, math.nan, math.inf, 0.0]),), {}, FLOATS, "special"),
    Case("nonzero", (array(np.zeros((4, 5))),), {}, ("f32", "i1"), "none"),
    Case("nonzero", (array(np.ones((4, 5))),), {}, ("f32", "i1"), "all"),
    Case("nonzero", ((0,),), {}, _F32),
    Case("nonzero", ((3, 0, 2),), {}, _F32),
    Case("nonzero", ((0, 2),), {}, _F32),
    Case("nonzero", (array(2.0),), {}, _F32, "scalar"),
    Case("nonzero", (array(0.0),), {}, _F32, "no_scalar"),
    Case("compress", ((5, 4), array([0, 1, 1, 0, 1], "i1"))),
    Case("compress", ((70,), mask(70, 0.5))),
    Case("compress", ((3, 4, 5), array([1, 0, 1], "i1")), {"axis": 1}, _F32, "short_condition"),
    Case("compress", ((3, 4, 5), array([0, 0, 1, 1, 1], "i1")), {"axis": -1}, _F32),
    Case("compress", ((3, 4), array([0, 0], "i1")), {}, _F32, "none"),
    Case("compress", ((3, 4), array([1, 1, 1], "i1")), {}, _F32, "all"),
    Case("compress", ((3, 4), spec((0,), dtype="i1")), {}, _F32),
    Case("compress", ((0, 4), spec((0,), dtype="i1")), {}, _F32),
    Case("compress", ((4, 0), array([1, 0, 1], "i1")), {}, _F32, "of_nothing"),
    Case("unique", (spec((40,), -4, 4),), {}, tuple(dtype for dtype in ALL_DTYPES if dtype not in FLOATS)),
    Case("unique", (spec((40,), -4, 4),), {"sorted": False}, ("i32", "i1", "ui8")),
    Case("unique", (array([0.5, -0.0, 0.0, math.nan, -math.inf, 0.5, math.nan, math.inf, -2, 0.0]),), {}, FLOATS, "special"),
    Case("unique", (spec((900,), -300, 300),), {}, ("i64", "i16", "ui16")),
    Case("unique", (spec((900,), -(2.0**62), 2.0**62),), {"sorted": False}, ("i64",)),
    Case("unique", (array(_GENERATOR.choice([-1.5e300, -3.25, 0, 1e-300, 7, 1e18], 500)),), {}, ("f64",), "wide"),
    Case("unique", (spec((30, 2), -2, 2),), {}, ("i32", "i64")),
    Case("unique", (spec((2, 60, 2), 0, 2),), {"axis": 1, "sorted": False}, ("i32",)),
    Case("unique", (spec((3, 50), 0, 2),), {"axis": -1}, ("ui64", "i8")),
    Case("unique", (array(np.full(70, 3)),), {}, _F32, "one"),
    Case("unique", ((0,),), {}, _F32),
    Case("unique", ((0,),), {"sorted": False}, _F32),
    Case("unique", ((4, 0),), {}, _F32),
    Case("unique", ((0, 3),), {"axis": 1}, _F32),
    suppression(_GENERATOR.uniform(0, 1, (2, 3, 50)), 4, 0.3, 0.2),
    suppression(_GENERATOR.uniform(0, 1, (1, 2, 150)), 1000, 0.5),
    suppression(_GENERATOR.uniform(0, 1, (1, 1, 300)), 40, 0.1, 0.0, center_point_box=True),
    suppression(np.round(_GENERATOR.uniform(0, 1, (2, 1, 130)), 1), 100, 0.4, 0.45, "equal_scores"),
    suppression([[[0.5, math.nan, -1.0, math.inf, -math.inf, 0.5]]], 6, 0.9, None, "special_scores"),
    suppression([[[0.5, 0.25, 0.75]]], 3, 0.0, 0.0, "same_box", [[[1, 2, 3, 4]] * 3]),
    suppression([[[0.5, 0.25, 0.75]]], 3, 0.5, 0.0, "no_area", [[[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 2, 2]]]),
    suppression(_GENERATOR.uniform(0, 1, (1, 2, 70)), 5, 0.5, 2.0, "none"),
    suppression(_GENERATOR.uniform(0, 1, (1, 2, 70)), 0, 0.5),
    suppression(np.zeros((1, 2, 0)), 3, 0.5),
    suppression(np.zeros((0, 2, 5)), 3, 0.5),
    suppression(np.zeros((1, 0, 5)), 3, 0.5),
]
