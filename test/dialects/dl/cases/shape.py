"""Numerics cases of the shape family: views, permutations, broadcasts, repeats and sizes as values."""

from __future__ import annotations

from typing import Any

from case import Case, InputSpec, array

_F32 = ("f32",)
_ALL = None


def sizes(*values: int) -> InputSpec:
    return array(list(values), "i64")


def reshape(x: Any, shape: tuple[int, ...], given: Any = None, dtypes: Any = _F32, **attributes: Any) -> Case:
    name = f"{x}to{shape}{attributes}".replace(" ", "") + (f"by{given.values}" if given else "")
    return Case("reshape", (x, given), {"shape": shape, **attributes}, dtypes, name)


def expand(x: Any, shape: tuple[int, ...], given: Any = None, dtypes: Any = _F32) -> Case:
    return Case("expand", (x, given), {"shape": shape}, dtypes, f"{x}to{shape}" + (f"by{given.values}" if given else ""))


CASES = [
    reshape((2, 3, 4), (6, 4), dtypes=_ALL),
    reshape((2, 3, 4), (4, 6)),
    reshape((2, 3, 4), (-1,)),
    reshape((2, 3, 4), (3, -1, 2)),
    reshape((24,), (2, 3, 4)),
    reshape((1, 5, 1), (5,)),
    reshape((5,), (1, 5, 1)),
    reshape((), (1, 1)),
    reshape((1, 1), ()),
    reshape((0, 4), (2, 0)),
    reshape((0, 4), (-1, 2, -1), copied=(0, -1, -1)),
    reshape((2, 7, 12), (-1, -1, 3, 4), copied=(0, 1, -1, -1)),
    reshape((2, 7, 3, 4), (-1, -1, -1), copied=(0, 1, -1)),
    reshape((2, 7, 3, 4), (-1, 4), copied=(-1, -1)),
    reshape((3, 4), (-1, -1, -1), copied=(1, 0, -1)),
    reshape((2, 3, 4), (-1, -1), sizes(6, 4), dtypes=("f32", "ui8", "i1")),
    reshape((2, 3, 4), (-1, -1, -1), sizes(4, -1, 2)),
    reshape((2, 3, 4), (-1, 4), sizes(-1, 4)),
    reshape((2, 3, 4), (-1, -1, -1, -1), sizes(0, 0, 2, -1), zero_copies=True),
    reshape((0, 4), (-1, -1), sizes(4, 0)),
    reshape((), (-1,), sizes(1)),
    reshape((1, 1), (), array([], "i64")),
    Case("transpose", ((3, 5),), {"perm": (1, 0)}),
    Case("transpose", ((2, 3, 4),), {"perm": (0, 2, 1)}, _F32),
    Case("transpose", ((2, 3, 4, 5),), {"perm": (0, 2, 1, 3)}, _F32),
    Case("transpose", ((2, 3, 4, 5),), {"perm": (3, 0, 2, 1)}, _F32),
    Case("transpose", ((2, 1, 4),), {"perm": (1, 0, 2)}, _F32),
    Case("transpose", ((2, 0, 4),), {"perm": (2, 1, 0)}, _F32),
    Case("transpose", ((7,),), {"perm": (0,)}, _F32),
    Case("transpose", ((),), {"perm": ()}, _F32),
    expand((3, 1), (2, 3, 4), dtypes=_ALL),
    expand((3, 1), (3, 4)),
    expand((3, 4), (1, 1)),
    expand((3, 4), (4,)),
    expand((), (2, 3)),
    expand((), ()),
    expand((1, 3), (0, 3)),
    expand((0, 1), (1, 5)),
    expand((3, 1), (-1, -1, -1), sizes(2, 3, 4)),
    expand((3, 1), (2, -1, 4), sizes(2, 1, 4)),
    expand((1, 4), (-1, -1), sizes(1, 1)),
    expand((2, 1, 4), (-1,), sizes(4)),
    expand((), (-1, -1), sizes(2, 2)),
    expand((1,), (-1,), sizes(0)),
    Case("squeeze", ((1, 3, 1, 4),), {"axes": (0, 2)}),
    Case("squeeze", ((1, 3, 1),), {"axes": (-1,)}, _F32),
    Case("squeeze", ((1, 1),), {"axes": (0, 1)}, _F32),
    Case("squeeze", ((3, 0, 1),), {"axes": (2,)}, _F32),
    Case("squeeze", ((3, 2),), {"axes": ()}, _F32),
    Case("unsqueeze", ((3, 4),), {"axes": (0, 3)}),
    Case("unsqueeze", ((3, 4),), {"axes": (-1,)}, _F32),
    Case("unsqueeze", ((3,),), {"axes": (-3, 2)}, _F32),
    Case("unsqueeze", ((),), {"axes": (0, 1)}, _F32),
    Case("unsqueeze", ((0, 2),), {"axes": (1,)}, _F32),
    Case("tile", ((2, 3),), {"repeats": (2, 3)}),
    Case("tile", ((2, 3, 4),), {"repeats": (1, 2, 1)}, _F32),
    Case("tile", ((2, 1),), {"repeats": (1, 5)}, _F32),
    Case("tile", ((2, 3),), {"repeats": (0, 1)}, _F32),
    Case("tile", ((0, 3),), {"repeats": (2, 2)}, _F32),
    Case("tile", ((),), {"repeats": ()}, _F32),
    Case("shape_of", ((2, 3, 4),)),
    Case("shape_of", ((2, 3, 4),), {"start": 1}, _F32),
    Case("shape_of", ((2, 3, 4),), {"start": -2, "end": -1}, _F32),
    Case("shape_of", ((2, 3, 4),), {"start": 2, "end": 1}, _F32),
    Case("shape_of", ((2, 0),), {"end": 9}, _F32),
    Case("shape_of", ((),), {}, _F32),
    Case("size", ((2, 3, 4),)),
    Case("size", ((0, 4),), {}, _F32),
    Case("size", ((),), {}, _F32),
]
