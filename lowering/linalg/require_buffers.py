"""What passes on buffers ask of a module before they change anything."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import is_linalg, nested_ops
from dlc.lowering.pass_base import PassFailure


def require_buffers(module: ir.Operation, order: str = "") -> None:
    """`PassFailure` at an op of linalg on tensors; where `order` says which pass comes first, at a buffer that is freed, too."""
    for op in nested_ops(module):
        if is_linalg(op) and len(op.results):
            raise PassFailure(op, f"needs buffers, found '{op.name}' on tensors", "run linalg-bufferize-tensors first")
        if order and op.name == "memref.dealloc":
            raise PassFailure(op, "needs buffers that nobody frees, found 'memref.dealloc'", order)
