"""Local buffers take the shape that they are used in."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.affine.ir.loops import real_ops

_RESHAPES = ("memref.collapse_shape", "memref.expand_shape")


def allocate_as_viewed(block: ir.Block) -> None:
    """Give each buffer of `block` that is only used reshaped, in one static way, that shape from the start."""
    for op in real_ops(block):
        if op.name == "memref.alloc":
            _allocate_as_viewed(op)


def _allocate_as_viewed(alloc: ir.Operation) -> None:
    users = [use.owner.operation for use in alloc.results[0].uses]
    views = [user for user in users if user.name in _RESHAPES]
    if not views or any(user.name not in (*_RESHAPES, "memref.dealloc") for user in users):
        return
    kind = ir.MemRefType(views[0].results[0].type)
    if not kind.has_static_shape or any(view.results[0].type != kind for view in views):
        return
    with ir.InsertionPoint(alloc), alloc.location:
        attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
        made = ir.Operation.create("memref.alloc", results=[kind], attributes=attributes).results[0]
    for view in views:
        view.results[0].replace_all_uses_with(made)
        view.erase()
    alloc.results[0].replace_all_uses_with(made)
    alloc.erase()
