"""gpu-remove-barriers: barriers that keep no threads of a block apart go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.first_threads import WarpRows, is_inside, warp_rows
from dlc.lowering.affine_to_gpu.thread_accesses import ThreadAccess, accesses_of, may_meet
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import gpu_facts_of


@dataclass(frozen=True)
class GpuRemoveBarriers(Pass):
    """Remove barriers between accesses of which no two threads of a block touch the same element.

    before: affine.store %x, %A[%by, %tx]; gpu.barrier; %y = affine.load %A[%by, %tx]
    after:  affine.store %x, %A[%by, %tx]; %y = affine.load %A[%by, %tx]

    A barrier stays where what follows it, up to the next one, may read what another thread has written since the last barrier
    that stays, or write what another one has read or written. Launches of which an access is not understood keep all of theirs.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for rows in warp_rows(op, gpu_facts_of(op)):
            accesses = accesses_of(rows)
            barriers = [inner for inner in nested_ops(rows.op) if inner.name == "gpu.barrier"]
            if accesses is not None and barriers:
                _Segments(rows, accesses).visit(rows.body, [])


@dataclass(frozen=True, eq=False)
class _Segments:
    """The code between barriers, and what it touches."""

    rows: WarpRows
    accesses: Sequence[ThreadAccess]

    def visit(self, block: ir.Block, before: Sequence[ThreadAccess], following: Sequence[ThreadAccess] = ()) -> None:
        """Remove barriers of a block that neither what is in it nor `before`, accesses since the last barrier before it, need.

        `following` are the accesses that may come right after the block.
        """
        pending, since = list(before), list[ThreadAccess]()
        waiting: ir.Operation | None = None
        for op in real_ops(block):
            if op.name == "gpu.barrier":
                if waiting is not None:
                    waiting.erase()
                waiting, pending, since = op, pending + since, []
                continue
            here = self._inside(op)
            has_barriers = any(inner.name == "gpu.barrier" for inner in nested_ops(op))
            if waiting is not None and (has_barriers or _meet(pending, here)):
                waiting, pending, since = None, since, []
            if has_barriers:
                self._visit_inner(op, pending, here)
            since += here
            if waiting is None:
                pending, since = pending + since, []
        if waiting is not None and not _meet(pending, following):
            waiting.erase()

    def _visit_inner(self, op: ir.Operation, pending: Sequence[ThreadAccess], here: Sequence[ThreadAccess]) -> None:
        """Remove barriers inside of an op: of a loop, any iteration may have come before."""
        around = here if op.name == "affine.for" else ()
        for block in [block for region in op.regions for block in region.blocks]:
            self.visit(block, [*pending, *around], around)

    def _inside(self, op: ir.Operation) -> list[ThreadAccess]:
        return [one for one in self.accesses if one.op == op or is_inside(one.op, op)]


def _meet(some: Sequence[ThreadAccess], others: Sequence[ThreadAccess]) -> bool:
    return any(may_meet(one, other) for one in some for other in others)
