"""Which axes of a buffer, or of a window of one, lie so that they are one axis with the next, by how the value is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import argument_marks, defining_op, is_row_major
from dlc.analysis.size_polynomials import SizeReader

COLLAPSIBLE = "dl.collapsible"
"""Attribute of an argument: its axes that are one with the next."""


def collapsible_axes(value: ir.Value, sizes: SizeReader) -> frozenset[int]:
    """The axes along which a step is as far as a whole row of the next one: `memref.collapse_shape` may join the two.

    Types show that only where strides are numbers. A window of a buffer has such axes, too, where it is as wide as that along the
    next one.
    """
    kind = ir.MemRefType(value.type)
    if is_row_major(kind):
        return frozenset(range(kind.rank - 1))
    marks = argument_marks(value)
    if marks is not None and COLLAPSIBLE in marks:
        return frozenset(ir.DenseI64ArrayAttr(marks[COLLAPSIBLE]))
    op = defining_op(value)
    rule = None if op is None else _RULES.get(op.name)
    return frozenset() if op is None or rule is None else rule(op, sizes)


def _of_cast(op: ir.Operation, sizes: SizeReader) -> frozenset[int]:
    source = op.operands[0]
    return collapsible_axes(source, sizes) if isinstance(source.type, ir.MemRefType) else frozenset()


def _of_window(op: ir.Operation, sizes: SizeReader) -> frozenset[int]:
    """Those of what the window is of, where it has all of the next axis."""
    source, result = op.operands[0], op.results[0]
    if ir.MemRefType(source.type).rank != ir.MemRefType(result.type).rank:
        return frozenset()
    steps = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    whole = {
        axis
        for axis, step in enumerate(steps)
        if step == 1 and (size := sizes.dim(source, axis)) is not None and size == sizes.dim(result, axis)
    }
    return frozenset(axis for axis in collapsible_axes(source, sizes) if axis + 1 in whole and steps[axis] == 1)


def _of_expansion(op: ir.Operation, sizes: SizeReader) -> frozenset[int]:
    """The parts of an axis, and the last part of one that is collapsible itself."""
    found: set[int] = set()
    known = collapsible_axes(op.operands[0], sizes)
    for axis, parts in enumerate(_groups(op)):
        found.update(parts if axis in known else parts[:-1])
    return frozenset(found)


def _of_collapse(op: ir.Operation, sizes: SizeReader) -> frozenset[int]:
    known = collapsible_axes(op.operands[0], sizes)
    return frozenset(axis for axis, parts in enumerate(_groups(op)) if parts and parts[-1] in known)


def _groups(op: ir.Operation) -> list[Sequence[int]]:
    return [[ir.IntegerAttr(axis).value for axis in group] for group in ir.ArrayAttr(op.attributes["reassociation"])]


_RULES: Mapping[str, Callable[[ir.Operation, SizeReader], frozenset[int]]] = {
    "memref.cast": _of_cast,
    "memref.subview": _of_window,
    "memref.expand_shape": _of_expansion,
    "memref.collapse_shape": _of_collapse,
}
"""By the op that gives the value."""
