"""`dl-hoist-invariants`: what every step of a loop computes alike is computed before it."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.control.scalars import control_ops
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class HoistInvariants(Pass):
    """Move ops out of loops that take nothing a loop changes.

    A check of sizes that such an op makes at run time then comes before the loop, also where the loop has no step.

    before: scf.for ... iter_args(%a = %x) { %0 = "dl.transpose"(%w)  %1 = "dl.matmul"(%a, %0) ... }
    after:  %0 = "dl.transpose"(%w)   scf.for ... iter_args(%a = %x) { %1 = "dl.matmul"(%a, %0) ... }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        if any(inner.name != "scf.if" for inner in control_ops(op)):
            run_native(op, "loop-invariant-code-motion")
