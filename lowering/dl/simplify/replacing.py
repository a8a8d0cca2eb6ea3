"""How rules put something in the place of an op: a value that is there already, or a new op of the same result type."""

from __future__ import annotations

from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.attributes import AttributeMismatch
from dlc.lowering.dl.matching import has_one_use, may_stand_for, type_of
from dlc.lowering.dl.patterns import merged_location
from dlc.lowering.dl.rewriting import Rewriter


def forward(op: ir.Operation, rewriter: Rewriter, value: ir.Value) -> bool:
    """Let `value` stand for the result of `op`, unless its type does not fit the uses."""
    if not may_stand_for(type_of(value), op.results[0]):
        return False
    rewriter.replace(op, value)
    return True


def rebuild(
    op: ir.Operation,
    rewriter: Rewriter,
    name: str,
    *operands: ir.Value | None,
    absorbing: ir.Operation | None = None,
    **attributes: Any,
) -> bool:
    """Put the op `dl.<name>`, with the result type of `op`, in its place, and in that of the op `absorbing` that feeds it.

    The location names both, unless something else uses the absorbed op, too. False where a number that rules put together
    is more than an attribute holds.
    """
    found = dl.ops()[name]
    absorbed = absorbing is not None and has_one_use(absorbing.results[0])
    location = merged_location([absorbing, op]) if absorbed else op.location
    try:
        made = found.create(*operands, result_types=[type_of(op.results[0])], loc=location, **attributes)
    except AttributeMismatch:
        return False
    rewriter.replace(op, made.results[0])
    return True
