"""gpu-print-accesses: what the loads and stores of kernels ask of memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine_to_gpu.warp_accesses import AccessSummary, WarpAccess, block_size_of, summary_of, warp_accesses
from dlc.lowering.pass_base import Pass, option
from dlc.targets.machine import GpuMachine, gpu_facts_of


@dataclass(frozen=True)
class GpuPrintAccesses(Pass):
    """Print uncoalesced accesses and bank conflicts of every kernel; the IR stays as it is.

    before: gpu.func @f(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
              %t = gpu.thread_id x   %a = affine.load %A[%t, 0] ... }
    after:  the same; on standard error:
            kernel @f, blocks of 32x1x1: 1 of 1 accesses uncoalesced, 12% of what memory moves is used, no shared memory
              affine.load of memref<64x64xf32>: 32 sectors where 4 hold what a warp asks for

    Kernels are outlined first (`gpu-kernel-outlining`). The first warp of the first block is looked at, in the first iterations of
    its loops. Where data decides a subscript, each lane is taken to need a sector of its own.
    """

    anchor = "builtin.module"

    all: bool = option(False, "tell of accesses without fault, too")

    def run(self, op: ir.Operation) -> None:
        """Report on every kernel."""
        facts = gpu_facts_of(op)
        for kernel in [inner for inner in nested_ops(op) if inner.name == "gpu.func"]:
            print("\n".join(self._lines(kernel, facts)), file=sys.stderr)

    def _lines(self, kernel: ir.Operation, facts: GpuMachine) -> Iterator[str]:
        accesses = warp_accesses(kernel, facts)
        size = "x".join(map(str, block_size_of(kernel)))
        yield f"kernel @{symbol_name(kernel)}, blocks of {size}: {_total(summary_of(accesses))}"
        for access in accesses:
            if self.all or access.is_uncoalesced or access.ways > 1 or not access.is_known:
                yield f"  {access.op.name} of {access.memref.type}: {_shown(access)}"


def _total(found: AccessSummary) -> str:
    gathers = f", {found.gathers} where data decides" if found.gathers else ""
    ways = {0: "no shared memory", 1: "no bank conflicts"}.get(found.bank_ways, f"{found.bank_ways}-way bank conflicts")
    share = f"{found.used_share:.0%} of what memory moves is used"
    return f"{found.uncoalesced} of {found.accesses} accesses uncoalesced{gathers}, {share}, {ways}"


def _shown(access: WarpAccess) -> str:
    if not access.is_known:
        return "data decides where it goes"
    if access.space == "shared":
        return f"{access.ways}-way bank conflict" if access.ways > 1 else "no bank conflict"
    return f"{access.sectors} sectors where {access.least} hold what a warp asks for"
