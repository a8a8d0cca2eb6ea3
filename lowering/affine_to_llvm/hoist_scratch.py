"""Scratch memory of loop iterations is allocated once: an iteration that follows another reuses its memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.outlining import is_kernel


def hoist_scratch(function: ir.Operation, ops: Iterable[ir.Operation]) -> None:
    """Move the allocations of loop bodies out of all loops; `ops` are all ops of the function.

    Loops are those of affine and, in kernels, of scf: an entry's are loops of the model, which may not run at all.
    Parallel loops that leave their thread are functions of their own by now, so that iterations which share scratch
    memory run one after the other. Memory on the stack moves to the start of the function; a buffer that its own body
    frees moves around the outermost loop, where its size is known.
    """
    entry = function.regions[0].blocks[0]
    loops = ("affine.for", "scf.for") if is_kernel(function) else ("affine.for",)
    for op in [op for op in ops if op.name in ("memref.alloca", "memref.alloc")]:
        outermost = _outermost_loop(op, loops)
        if outermost is None:
            continue
        if op.name == "memref.alloca" and not len(op.operands):
            op.move_before(entry.operations[0].operation)
        elif all(_is_outside(value, outermost) for value in op.operands):
            _move_around(op, outermost)


def _outermost_loop(op: ir.Operation, loops: Sequence[str]) -> ir.Operation | None:
    """The outermost of the loops, by name of their op, right around `op`."""
    found: ir.Operation | None = None
    parent = op.parent
    while parent is not None and parent.operation.name in loops:
        found = parent.operation
        parent = found.parent
    return found


def _is_outside(value: ir.Value, loop: ir.Operation) -> bool:
    op = defining_op(value)
    owner: ir.Operation | None = op if op is not None else value.owner.owner.operation
    while owner is not None:
        if owner == loop:
            return False
        owner = owner.parent.operation if owner.parent is not None else None
    return True


def _move_around(alloc: ir.Operation, loop: ir.Operation) -> None:
    """Allocate before `loop` and free after it what the allocation's own block frees."""
    users = [use.owner.operation for use in alloc.results[0].uses]
    frees = [user for user in users if user.name == "memref.dealloc" and user.block == alloc.block]
    if alloc.name == "memref.alloc" and len(frees) != 1:
        return
    alloc.move_before(loop)
    for free in frees:
        free.move_after(loop)
