"""affine-expand-buffers: memory that each iteration allocates becomes one buffer with a place for each iteration."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, nested_ops
from dlc.lowering.affine.memory.expansion import allocate, is_access, loops_around, redirect
from dlc.lowering.pass_base import Pass, option


@dataclass(frozen=True)
class ExpandBuffers(Pass):
    """Give every iteration its own place in one buffer, so that iterations that share no data may run in any order.

    before: affine.for %i = 0 to 8 { %w = memref.alloca() : memref<f64>; affine.store %x, %w[]; ... }
    after:  %w = memref.alloc() : memref<8xf64>; affine.for %i = 0 to 8 { affine.store %x, %w[%i]; ... }; memref.dealloc %w

    Buffers that loads and stores alone use, in `affine.for` loops, with sizes that are known before these. A size that is known at
    run time alone counts as 1024 against the limit.
    """

    anchor = "func.func"

    limit: int = option(1 << 28, "bytes of the largest buffer that is made")

    def run(self, op: ir.Operation) -> None:
        allocations = [
            inner for inner in nested_ops(op) if inner.name in ALLOCATIONS and inner.parent.operation.name != "func.func"
        ]
        for allocation in allocations:
            self._expand(allocation)

    def _expand(self, allocation: ir.Operation) -> None:
        """Replace one allocation in loops; nothing where it does not fit."""
        loops = loops_around(allocation)
        kind = ir.MemRefType(allocation.results[0].type)
        uses = [use.owner.operation for use in allocation.results[0].uses]
        accesses = [use for use in uses if is_access(use)]
        rest = [use for use in uses if not is_access(use)]
        sizes = list(allocation.operands)
        if loops is None or not loops.come_after(sizes) or any(use.name != "memref.dealloc" for use in rest):
            return
        if loops.likely_bytes(kind) > self.limit:
            return
        with allocation.location:
            buffer = allocate(loops, kind, sizes)
        for access in accesses:
            redirect(access, buffer, loops)
        for use in rest:
            use.erase()
        allocation.erase()
