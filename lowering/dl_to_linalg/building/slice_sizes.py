"""Slices that are written: what goes into one must have its sizes."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.control import slice_axes, slice_sizes
from dlc.dialects.dl.types import Dim, type_of_value
from dlc.lowering.dl_to_linalg.building.builder import Builder


def require_slice_sizes(function: ir.Operation, shapes: SymbolicShapes) -> None:
    """Fail at run time where what a `tensor.insert_slice` writes has other sizes than the slice; equal symbols are equal."""
    for op in nested_ops(function):
        if op.name == "tensor.insert_slice":
            _require_sizes(op, shapes)


def _require_sizes(op: ir.Operation, shapes: SymbolicShapes) -> None:
    part = op.operands[0]
    kind = type_of_value(part)
    axes = slice_axes(op, kind.rank)
    b = Builder(ir.InsertionPoint(op), op.location, op_name=op.name)
    for at, size in enumerate(slice_sizes(op)):
        if isinstance(size, int):
            continue
        axis = axes.index(at)
        if _symbol(size, shapes) != shapes.type_of(part).shape[axis]:
            b.require_equal((f"dim {axis} of what is written", b.dim(part, axis)), (f"dim {at} of its slice", size))


def _symbol(size: ir.Value, shapes: SymbolicShapes) -> Dim:
    """The symbol of a size that is read from the shape of a tensor; None of others."""
    for name in ("arith.index_cast", "tensor.extract", "dl.shape_of"):
        op = defining_op(size)
        if op is None or op.name != name:
            return None
        size = op.operands[0]
    start = op.opview.attribute_values()["start"]  # type: ignore[union-attr]
    return shapes.type_of(size).shape[start]
