"""How rules put something in the place of an op: a value that is there already, or a new op of the same result type."""

from __future__ import annotations

from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import may_stand_for, type_of
from dlc.lowering.dl.rewriting import Rewriter


def forward(op: ir.Operation, rewriter: Rewriter, value: ir.Value) -> bool:
    """Let `value` stand for the result of `op`, unless its type does not fit the uses."""
    if not may_stand_for(type_of(value), op.results[0]):
        return False
    rewriter.replace(op, value)
    return True


def rebuild(op: ir.Operation, rewriter: Rewriter, name: str, *operands: ir.Value | None, **attributes: Any) -> bool:
    """Put the op `dl.<name>`, with the result type of `op`, in its place."""
    found = dl.ops()[name]
    made = found.create(*operands, result_types=[type_of(op.results[0])], **attributes)
    rewriter.replace(op, made.results[0])
    return True
