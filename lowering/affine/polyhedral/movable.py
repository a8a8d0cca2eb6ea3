"""What statements must not exchange for loops to be built anew: values, and memory that each iteration has for itself."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop


def refuse_unmovable(scop: Scop) -> None:
    """Raise an ExtractionError, at the op that makes it, for what would be lost when statements move."""
    for array in scop.arrays:
        if not array.is_memory:
            passes = "affine-demote-values --affine-expand-buffers"
            raise ExtractionError(_home_of(array.value), "this value is used by another statement", f"run --{passes} first")
        if array.loops:
            raise ExtractionError(
                _home_of(array.value), "this memory is allocated inside loops", "run --affine-expand-buffers first"
            )


def _home_of(value: ir.Value) -> ir.Operation:
    """The op that defines a value, or whose block does."""
    return value.owner.owner.operation if isinstance(value, ir.BlockArgument) else value.owner.operation
