"""Checks before the work that relies on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, is_linalg, nested_ops
from dlc.lowering.pass_base import Pass, PassFailure

_SIZES = VIEW_OPS | {"memref.dim", "affine.apply"}


@dataclass(frozen=True)
class HoistChecks(Pass):
    """Move each `cf.assert` to where what it reads is known: to the start of its block, or behind the last op that it waits for.

    Checks of sizes keep their order, and a call that fails one has allocated nothing yet. A check that reads elements of a buffer,
    or what another op than arithmetic gives, comes right behind that op: loops whose bounds it vouches for run after it.

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
                for block in _blocks_of(function.operation):
                    _hoist(block)


def _blocks_of(op: ir.Operation) -> Iterator[ir.Block]:
    """The blocks of a function or of control flow, those inside them too; bodies of other ops run once an element."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.operations:
                if inner.operation.name.startswith("scf."):
                    yield from _blocks_of(inner.operation)


def _hoist(block: ir.Block) -> None:
    """Move the checks of `block`, with what they need, before its other ops; those that wait for one of these behind it."""
    ops = [op.operation for op in block.operations]
    positions = {op: position for position, op in enumerate(ops)}
    moved: dict[ir.Operation, None] = {}
    waiting: list[tuple[ir.Operation, list[ir.Operation]]] = []
    for op in [op for op in ops if op.name == "cf.assert"]:
        needed, awaited = _needed(op, block)
        chain = sorted([*needed, op], key=lambda each: positions[each])
        if awaited:
            waiting.append((max(awaited, key=lambda each: positions[each]), chain))
        else:
            moved.update(dict.fromkeys(chain))
    front = next((op for op in ops if op not in moved), None)
    for op in moved:
        if front is not None:
            op.move_before(front)
    _move_behind(sorted(waiting, key=lambda pair: positions[pair[0]]), positions, set(moved))


def _move_behind(
    waiting: list[tuple[ir.Operation, list[ir.Operation]]], positions: dict[ir.Operation, int], done: set[ir.Operation]
) -> None:
    """Move each chain of ops that are not `done` behind the op that it waits for, the first of these first."""
    last: dict[ir.Operation, ir.Operation] = {}
    for awaited, chain in waiting:
        for op in [op for op in chain if op not in done and positions[op] > positions[awaited]]:
            op.move_after(last.get(awaited, awaited))
            last[awaited] = op
            done.add(op)


def _needed(check: ir.Operation, block: ir.Block) -> tuple[set[ir.Operation], set[ir.Operation]]:
    """The ops of `block` that compute the check's condition and may move, and those that these wait for."""
    needed: set[ir.Operation] = set()
    awaited: set[ir.Operation] = set()
    waiting = list(check.operands)
    while waiting:
        op = defining_op(waiting.pop())
        if op is None or op.block != block or op in needed:
            continue
        if op.name not in _SIZES and not op.name.startswith("arith."):
            awaited.add(op)
            continue
        needed.add(op)
        waiting.extend(op.operands)
    return needed, awaited
