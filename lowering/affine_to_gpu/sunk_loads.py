"""Numbers that the host would read from the GPU's memory for kernels: kernels read them themselves."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, root_of, written_roots
from dlc.lowering.affine_to_gpu.grid import is_bound

_LOADS = ("affine.load", "memref.load")


def sink_loads(block: ir.Block) -> None:
    """Repeat loads between mapped loops, what is computed of them and views by them, before the ops in these loops that use them.

    Those of memory that nothing in `block`, a function's, writes. What no other op uses goes.
    """
    written = {root for op in block.operations for root in written_roots(op.operation)}
    found: list[ir.Operation] = []
    for op in [view.operation for view in block.operations]:
        reads = op.name in _LOADS and root_of(op.operands[0]) not in written
        if reads or (_is_repeatable(op) and any(defining_op(value) in found for value in op.operands if defining_op(value))):
            found.append(op)
    for op in reversed(found):
        for use in [use for use in op.results[0].uses if is_bound(use.owner.operation)]:
            _repeat_before(op, use.owner.operation, use.operand_number)
        if not any(True for _ in op.results[0].uses):
            op.erase()


def _is_repeatable(op: ir.Operation) -> bool:
    return op.name.startswith("arith.") or op.name in VIEW_OPS


def _repeat_before(op: ir.Operation, user: ir.Operation, number: int) -> None:
    with ir.InsertionPoint(user):
        copy = op.clone().operation
    user.operands[number] = copy.results[0]
