"""Checks of sizes before all work."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, is_linalg, nested_ops
from dlc.lowering.pass_base import Pass, PassFailure

_SIZES = VIEW_OPS | {"memref.dim", "affine.apply"}


@dataclass(frozen=True)
class HoistChecks(Pass):
    """Move each `cf.assert` of a function to its start, as far as what it reads is known there.

    A call that fails such a check has allocated nothing yet, so that nothing is lost when the runtime leaves it. Checks
    keep their order. One that reads elements of a buffer stays where it is.

    before:
        %a = memref.alloc(%n) : memref<?xf32>
        linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
        %d = memref.dim %y, %c0 : memref<?xf32>
        %e = arith.cmpi eq, %n, %d : index
        cf.assert %e, "x dim 0 is {} but y dim 0 is {}"
    after:
        %d = memref.dim %y, %c0 : memref<?xf32>
        %e = arith.cmpi eq, %n, %d : index
        cf.assert %e, "x dim 0 is {} but y dim 0 is {}"
        %a = memref.alloc(%n) : memref<?xf32>
        linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
    """

    def run(self, op: ir.Operation) -> None:
        for inner in nested_ops(op):
            if is_linalg(inner) and len(inner.results):
                what = f"needs buffers, found '{inner.name}' on tensors"
                raise PassFailure(inner, what, "run linalg-bufferize-tensors first")
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and len(function.operation.regions[0].blocks):
                _hoist(function.operation.regions[0].blocks[0])


def _hoist(block: ir.Block) -> None:
    """Move the checks of `block`, with what they need, before its other ops."""
    ops = [op.operation for op in block.operations]
    positions = {op: position for position, op in enumerate(ops)}
    moved: dict[ir.Operation, None] = {}
    for op in ops:
        needed = _needed(op, block) if op.name == "cf.assert" else None
        if needed is not None:
            moved.update(dict.fromkeys(sorted([*needed, op], key=lambda each: positions[each])))
    front = next((op for op in ops if op not in moved), None)
    for op in moved:
        if front is not None:
            op.move_before(front)


def _needed(check: ir.Operation, block: ir.Block) -> set[ir.Operation] | None:
    """The ops of `block` from which the check computes its condition; None when one of them has to stay."""
    needed: set[ir.Operation] = set()
    waiting = list(check.operands)
    while waiting:
        op = defining_op(waiting.pop())
        if op is None or op.block != block or op in needed:
            continue
        if op.name not in _SIZES and not op.name.startswith("arith."):
            return None
        needed.add(op)
        waiting.extend(op.operands)
    return needed
