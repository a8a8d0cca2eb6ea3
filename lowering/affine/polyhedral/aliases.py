"""Memrefs that may share memory have no exact dependences; one whose element is read and written under two names neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_unaliased, may_alias, overlaps_itself, root_of
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.model import ExtractionError


def refuse_aliases(accesses: Sequence[tuple[ir.Operation, Array, bool]]) -> None:
    """Raise ExtractionError where two arrays, one of them written, may share memory.

    `accesses` are ops with the array that they touch and whether they write.
    """
    users = {array: op for op, array, _ in reversed(accesses) if array.is_memory}
    written = dict.fromkeys(array for _, array, writes in accesses if writes and array.is_memory)
    for one, other in _pairs(list(written), list(users)):
        if _may_share(one.value, other.value):
            raise ExtractionError(
                users[other],
                f"it touches a memref that may share memory with {_name(one.value)}, which is written here",
                "mark the arguments {llvm.noalias}, or pass assume-no-alias",
            )


def refuse_shapes(accesses: Sequence[tuple[ir.Operation, Array, bool]]) -> None:
    """Raise ExtractionError where memory that is written is touched in two shapes whose elements the model cannot match."""
    users = {array: op for op, array, _ in reversed(accesses) if array.is_memory}
    written = dict.fromkeys(array for _, array, writes in accesses if writes and array.is_memory)
    for one, other in _pairs(list(written), list(users)):
        if root_of(one.value) == root_of(other.value):
            reason = "it touches a memref that is written in another shape of sizes that only run time knows"
            raise ExtractionError(users[other], reason, "make these sizes static")


def refuse_overlaps(accesses: Sequence[tuple[ir.Operation, Array, bool]]) -> None:
    """Raise ExtractionError where elements of an array that is written lie in one place, though their subscripts differ."""
    for op, array, writes in accesses:
        kind = array.value.type if array.is_memory else None
        if writes and isinstance(kind, ir.MemRefType) and overlaps_itself(kind):
            reason = "it writes a memref whose strides put elements of different subscripts into one place"
            raise ExtractionError(op, reason, "give the memref strides that keep its elements apart")


def _pairs(written: Sequence[Array], touched: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
    return ((one, other) for one in written for other in touched if one is not other)


def _may_share(one: ir.Value, other: ir.Value) -> bool:
    one, other = root_of(one), root_of(other)
    if is_unaliased(one) or is_unaliased(other) or not may_alias(one, other):
        return False
    return global_name(one) is None or global_name(other) is None or global_name(one) == global_name(other)


def global_name(value: ir.Value) -> str | None:
    """The global that `value`, the result of a `memref.get_global`, is; None for other values."""
    op = defining_op(value)
    return str(op.attributes["name"]) if op is not None and op.name == "memref.get_global" else None


def _name(value: ir.Value) -> str:
    """What messages call `value`."""
    return str(global_name(value) or value.get_name())
