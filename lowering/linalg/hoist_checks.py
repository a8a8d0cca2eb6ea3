"""Checks before the work that relies on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.pass_base import Pass

_MOVABLE = VIEW_OPS | {"memref.dim", "affine.apply", "cf.assert"}
"""Ops that may move beside those of arithmetic: they read sizes alone."""


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
        require_buffers(op)
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
    waits = _waits(ops, positions)
    checks = [op for op in ops if op.name == "cf.assert"]
    moved: set[ir.Operation] = set()
    leading = [op for check in checks if waits[check] < 0 for op in _chain(check, positions, waits, moved)]
    front = next((op for op in ops if op not in moved), None)
    for op in leading:
        if front is not None:
            op.move_before(front)
    last: dict[int, ir.Operation] = {}
    for check in sorted((check for check in checks if waits[check] >= 0), key=waits.__getitem__):
        at = waits[check]
        for op in [op for op in _chain(check, positions, waits, moved) if positions[op] > at]:
            op.move_after(last.get(at, ops[at]))
            last[at] = op


def _waits(ops: Sequence[ir.Operation], positions: Mapping[ir.Operation, int]) -> dict[ir.Operation, int]:
    """For each op of a block that may move: the position of the last op that it waits for, or -1."""
    found: dict[ir.Operation, int] = {}
    for op in ops:
        if op.name in _MOVABLE or op.name.startswith("arith."):
            sources = [source for source in map(defining_op, op.operands) if source in positions]
            found[op] = max((found.get(source, positions[source]) for source in sources), default=-1)
    return found


def _chain(
    check: ir.Operation, positions: Mapping[ir.Operation, int], waits: Mapping[ir.Operation, int], taken: set[ir.Operation]
) -> list[ir.Operation]:
    """The check and what computes its condition and may move, in the block's order; what is `taken` already is left out."""
    found, waiting = [], [check]
    while waiting:
        op = waiting.pop()
        if op in taken:
            continue
        taken.add(op)
        found.append(op)
        waiting.extend(source for source in map(defining_op, op.operands) if source in waits)
    return sorted(found, key=positions.__getitem__)
