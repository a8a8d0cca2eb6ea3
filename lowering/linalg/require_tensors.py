"""The check that linalg ops are still on tensors."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import is_linalg, nested_ops
from dlc.lowering.pass_base import PassFailure


def require_tensors(op: ir.Operation) -> None:
    """Raise `PassFailure` at the first linalg op inside `op` that reads or writes a buffer."""
    for inner in nested_ops(op):
        if is_linalg(inner) and any(isinstance(value.type, ir.MemRefType) for value in inner.operands):
            raise PassFailure(inner, "needs linalg on tensors, found buffers", "run it before linalg-bufferize-tensors")
