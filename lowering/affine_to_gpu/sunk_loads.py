"""Numbers that the host would read from the GPU's memory for kernels: kernels read them themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, nested_ops, root_of, written_roots
from dlc.lowering.outlining import clone_replacing

LOADS = ("affine.load", "memref.load")
"""Ops that read one element."""
_REPEATABLE = ("arith.", "math.")


def sink_loads(block: ir.Block) -> None:
    """Repeat loads between mapped loops, what is computed of them and views by them, before each other op that uses them.

    Those of memory that nothing in `block`, a function's, writes. What no other op uses goes.
    """
    written = {root for op in block.operations for root in written_roots(op.operation)}
    found: dict[ir.Operation, None] = {}
    for op in [view.operation for view in block.operations]:
        reads = op.name in LOADS and root_of(op.operands[0]) not in written
        if reads or (_is_repeatable(op) and any(defining_op(value) in found for value in op.operands if defining_op(value))):
            found[op] = None
    for user in [inner for op in block.operations if op.operation not in found for inner in nested_ops(op.operation)]:
        _repeat_before(user, found)
    for op in reversed(found):
        if not any(True for _ in op.results[0].uses):
            op.erase()


def _is_repeatable(op: ir.Operation) -> bool:
    return op.name.startswith(_REPEATABLE) or op.name in VIEW_OPS


def _repeat_before(user: ir.Operation, found: Mapping[ir.Operation, None]) -> None:
    """Clone what `user` needs of `found`, in its order, right before it."""
    needed = _needed(user.operands, found)
    values: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(user):
        for op in [op for op in found if op in needed]:
            clone_replacing(op, values)
    for number, value in enumerate(user.operands):
        if value in values:
            user.operands[number] = values[value]


def _needed(given: Iterable[ir.Value], found: Mapping[ir.Operation, None]) -> set[ir.Operation]:
    """The ops of `found` that compute values, and what these use of it."""
    needed: set[ir.Operation] = set()
    waiting = list(given)
    while waiting:
        op = defining_op(waiting.pop())
        if op is not None and op in found and op not in needed:
            needed.add(op)
            waiting += op.operands
    return needed
