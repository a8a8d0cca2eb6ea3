"""Elements of types that an op does not compute with, in another one and back."""

from __future__ import annotations

from collections.abc import Callable

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import SMALL_INTS, STORAGE
from dlc.dialects.dl.types import FLOATS, type_of_value
from dlc.frontends.onnx.node import NodeContext

_EXACT_IN_F32 = ("i16", "i8", "ui16", "ui8", "i1")


def as_computed(value: ir.Value) -> ir.Value:
    """A value whose elements are only stored in f32 or i32, which hold them exactly; others as they are."""
    dtype = type_of_value(value).dtype
    if dtype not in STORAGE:
        return value
    found: ir.Value = dl.cast(value, to="i32" if dtype in SMALL_INTS else "f32")
    return found


def in_floats(node: NodeContext, build: Callable[[NodeContext], ir.Value], rounded: bool = False) -> ir.Value:
    """What `build` makes of input 0, in floats where it has integers or i1: they are rounded or cut to integers in the end."""
    dtype = node.type(0).dtype
    if dtype in FLOATS:
        return build(node)
    found = build(node.with_value(0, dl.cast(node.value(0), to="f32" if dtype in _EXACT_IN_F32 else "f64")))
    found = dl.round(found) if rounded and dtype != "i1" else found
    return dl.cast(found, to=dtype)
