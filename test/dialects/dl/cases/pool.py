"""Poolings: spatial ranks, strides, pads, dilations, rounding up, counting pads."""

from typing import Any

from case import Case, array

_F32 = ("f32",)
_SHAPES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 6, 6), {"kernel": [2, 2], "strides": [2, 2]}),
    ((2, 1, 7, 8), {"kernel": [3, 2], "strides": [2, 3], "pads": [1, 0, 1, 1]}),
    ((1, 2, 8, 7), {"kernel": [3, 3], "strides": [2, 2], "ceil_mode": True}),
    ((1, 1, 4, 5), {"kernel": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": True}),
    ((1, 1, 5, 5), {"kernel": [1, 1], "strides": [3, 2], "ceil_mode": True}),
    ((1, 2, 9, 9), {"kernel": [3, 2], "dilations": [2, 3], "pads": [1, 1, 2, 0]}),
    ((2, 3, 10), {"kernel": [3], "strides": [3], "pads": [1, 1]}),
    ((1, 2, 4, 4, 4), {"kernel": [2, 2, 3], "strides": [2, 1, 1], "pads": [0, 0, 1, 0, 1, 1]}),
    ((0, 2, 4, 4), {"kernel": [2, 2]}),
    ((1, 2, 14, 15), {"kernel": [13, 15], "strides": [1, 2], "pads": [6, 7, 6, 6], "ceil_mode": True}),
]


def _last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with channels last."""
    return (shape[0], *shape[2:], shape[1])


_LAST = {"channels_last": True}
_COLUMNS = {"column_major": True}
_INF = float("inf")
_SPECIAL = array([[[float("nan"), 1.0, float("nan"), -_INF, -_INF, -_INF, 2.0, 2.0, 1.0, _INF]]])
CASES = [
    Case("max_pool", ((2, 3, 7, 5),), {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 1, 1, 0]}),
    Case("avg_pool", ((2, 3, 7, 5),), {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 1, 1, 0]}),
    *(Case("max_pool", (shape,), attributes, _F32) for shape, attributes in _SHAPES),
    *(Case("avg_pool", (shape,), attributes, _F32) for shape, attributes in _SHAPES),
    *(Case("avg_pool", (shape,), attributes | {"count_include_pad": True}, _F32) for shape, attributes in _SHAPES),
    *(Case("max_pool", (_last(shape),), attributes | _LAST, _F32) for shape, attributes in _SHAPES),
    *(Case("avg_pool", (_last(shape),), attributes | _LAST, _F32) for shape, attributes in _SHAPES),
    Case("arg_max_pool", ((2, 3, 7, 5),), {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 1, 1, 0]}),
    *(Case("arg_max_pool", (shape,), attributes, _F32) for shape, attributes in _SHAPES),
    *(Case("arg_max_pool", (shape,), attributes | _COLUMNS, ("i8",)) for shape, attributes in _SHAPES),
    *(Case("arg_max_pool", (_last(shape),), attributes | _LAST, ("ui8",)) for shape, attributes in _SHAPES),
    Case("arg_max_pool", (_SPECIAL,), {"kernel": [3], "pads": [1, 2]}, ("f64", "f32", "f16", "bf16"), "special"),
    Case("arg_max_pool", ((1, 1, 3),), {"kernel": [2], "dilations": [4], "pads": [4, 4]}, _F32, "none-inside"),
]
