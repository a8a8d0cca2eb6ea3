"""Numerics cases of walks through trees."""

from __future__ import annotations

from typing import Any

from case import Case, array, spec

_NAN = float("nan")
_FEATURE = [0, 3, 1, 0, 2, 0, 0, 1, 0, 0, 0]
_SPLIT = [0.5, -1.0, _NAN, 0.25, _NAN, _NAN, _NAN, 1.5, _NAN, _NAN, 0.0]
_BELOW = [1, 3, 2, 5, 4, 5, 6, 9, 8, 9, 8]
"""Two trees, with roots 0 and 7, and a node that no walk comes to."""


def walk(x: Any, nodes: Any, levels: int, tables: tuple[Any, ...] = (_FEATURE, _SPLIT, _BELOW), **more: Any) -> Case:
    feature, split, below = tables
    operands = (x, nodes, array(feature, "i32"), array(split), array(below, "i32"))
    return Case("tree_walk", operands, {"levels": levels}, **more)


_ROOTS = array([0, 7, 10], "i32")
_MISSING = array([[_NAN, 1.0, -2.0, _NAN], [0.5, _NAN, 0.0, -1.0], [-float("inf"), float("inf"), 0.0, 0.0]])
CASES = [
    walk((5, 4), _ROOTS, 3),
    walk((5, 4), _ROOTS, 1),
    walk((1, 4), _ROOTS, 16, dtypes=("f32",)),
    walk((33, 4), spec((33, 9), 0, 11, "i32"), 2, name="starts-of-their-own"),
    walk(_MISSING, _ROOTS, 3, name="missing"),
    walk((4, 2), array([-5, 99], "i32"), 2, ([9, -9, 1], [0.0, 0.5, 1.0], [1, 7, -7]), name="nodes-and-features-that-do-not-exist"),
    walk((0, 4), _ROOTS, 3, name="no-rows"),
    walk((3, 4), spec((0,), dtype="i32"), 3, name="no-trees"),
]
