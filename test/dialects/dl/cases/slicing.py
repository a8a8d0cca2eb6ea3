"""Numerics cases of the slicing family: joins, cuts and pads."""

from __future__ import annotations

from typing import Any

from case import Case, array

_F32 = ("f32",)
_FAR = 2**63 - 1


def sliced(x: Any, axes: Any, starts: Any, ends: Any, steps: Any, dtypes: Any = _F32, at_run_time: str = "") -> Case:
    attributes = {"axes": axes, "steps": steps}
    lists = {"starts": starts, "ends": ends}
    values = [item for key, given in lists.items() if key in at_run_time for item in given]
    attributes |= {key: () if key in at_run_time else given for key, given in lists.items()}
    name = f"{x}{axes}{starts}:{ends}:{steps}{at_run_time}".replace(" ", "")
    return Case("slice", (x, array(values, "i64") if at_run_time else None), attributes, dtypes, name)


def dynamic_pad(x: Any, counts: Any, mode: str = "constant", value: Any = None, dtypes: Any = _F32) -> Case:
    name = f"{'x'.join(map(str, x))}_by_{','.join(map(str, counts))}_{mode}"
    return Case("dynamic_pad", (x, array(counts, "i64"), value), {"mode": mode}, dtypes, name)


def pad(x: Any, low: Any, high: Any, mode: str = "constant", value: Any = None, dtypes: Any = _F32) -> Case:
    name = f"{mode}{x}{low}{high}".replace(" ", "") + ("value" if value else "")
    return Case("pad", (x, value), {"low": low, "high": high, "mode": mode}, dtypes, name)


CASES = [
    Case("concat", ((2, 3), (2, 4)), {"axis": 1}),
    Case("concat", ((2, 3), (1, 3)), {"axis": 0}, _F32),
    Case("concat", ((2, 3, 5), (2, 1, 5)), {"axis": -2}, _F32),
    Case("concat", ((2, 0), (2, 3)), {"axis": 1}, _F32),
    Case("concat", ((2, 3), (2, 0)), {"axis": 1}, _F32),
    Case("concat", ((3,), (3,)), {"axis": 0}, _F32),
    Case("concat", ((0, 2), (0, 3)), {"axis": 1}, _F32),
    sliced((5, 6), (0, 1), (1, 2), (4, 6), (1, 2), None),
    sliced((5, 6), (1,), (-3,), (_FAR,), (1,)),
    sliced((5, 6), (-1,), (0,), (-1,), (1,)),
    sliced((5, 6), (0,), (-1,), (-_FAR,), (-1,), None),
    sliced((5, 6), (0, 1), (4, 5), (0, -_FAR), (-2, -3)),
    sliced((5, 6), (0,), (9,), (-9,), (-1,)),
    sliced((5, 6), (0,), (4,), (2,), (1,)),
    sliced((5, 6), (1,), (-100,), (100,), (4,)),
    sliced((5,), (0,), (7,), (9,), (1,)),
    sliced((0, 3), (0,), (0,), (5,), (1,)),
    sliced((0, 3), (0,), (-1,), (-_FAR,), (-1,)),
    sliced((5, 6), (), (), (), ()),
    sliced((5, 6), (0, 1), (1, 2), (4, 6), (1, 2), None, "starts ends"),
    sliced((5, 6), (0, 1), (-2, 4), (_FAR, 1), (1, -2), _F32, "starts ends"),
    sliced((5, 6), (1,), (1,), (-1,), (1,), _F32, "starts"),
    sliced((5, 6), (1,), (0,), (-2,), (1,), _F32, "ends"),
    sliced((5, 6), (0,), (7,), (9,), (1,), _F32, "starts"),
    sliced((5, 6), (0,), (3,), (1,), (1,), _F32, "ends"),
    dynamic_pad((2, 3), (1, 0, 2, 3)),
    dynamic_pad((4, 5), (-1, -2, -1, 2), value=array(7.0), dtypes=None),
    dynamic_pad((4, 5), (-3, 0, -1, 0)),
    dynamic_pad((3, 4), (2, -1, 1, 3), "edge"),
    dynamic_pad((3, 4), (7, 0, 5, 2), "reflect"),
    dynamic_pad((3, 4), (7, 0, 5, -2), "wrap"),
    dynamic_pad((0, 4), (2, 0, 1, 2), "edge"),
    pad((2, 3), (1, 0), (2, 3)),
    pad((2, 3), (1, 0), (2, 3), value=array(7.0), dtypes=None),
    pad((4,), (-1,), (2,), value=array(-2.0)),
    pad((4, 5), (-1, -2), (-1, 0)),
    pad((0, 2), (2, 0), (1, 1), value=array(1.0)),
    pad((), (), ()),
    pad((3, 4), (2, 0), (1, 3), "edge", dtypes=None),
    pad((3, 4), (2, 1), (1, 3), "reflect", dtypes=None),
    pad((3, 4), (2, 1), (1, 3), "wrap", dtypes=None),
    pad((2, 1), (5, 2), (4, 3), "reflect"),
    pad((2, 3), (5, 7), (4, 3), "wrap"),
    pad((2, 3), (5, 0), (4, 3), "edge"),
    pad((6,), (-2,), (3,), "reflect"),
    pad((0, 3), (1, 1), (1, 2), "edge"),
    pad((2, 3, 21), (0, 1, 2), (1, 1, 3), "reflect", dtypes=None),
    pad((3, 21), (1, 0), (1, 3), "edge", dtypes=None),
    pad((3, 21), (0, 2), (0, 0), "wrap"),
    pad((2, 30), (1, -2), (0, 3), "reflect"),
]
