"""affine-keep-checks: checks of what data holds run on the host."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.affine_map_to_gpu import ON_CPU
from dlc.lowering.affine_to_gpu.affine_outline_checks import CHECKS
from dlc.lowering.pass_base import Pass

REASON = "a check that fails on the GPU would end all work of the process there"
"""An assertion that fails corrupts the context, and only a new process gets another (CUDA C++ Programming Guide, "Assertion")."""


@dataclass(frozen=True)
class AffineKeepChecks(Pass):
    """Leave the functions that `affine-outline-checks` made to the CPU, which says what is wrong and goes on.

    before: func.func private @k_checks(%ids: memref<16xi64>) attributes {dlc.checks} { ... cf.assert %ok, "..." }
    after:  func.func private @k_checks(%ids: memref<16xi64>) attributes {dlc.on_cpu = "a check ..."} { ... cf.assert %ok, "..." }

    Indices are mostly inputs, which the host has anyway. Run it before `convert-affine-to-gpu`, which makes kernels of checks.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite the function `op`."""
        if CHECKS in op.attributes:
            del op.attributes[CHECKS]
            op.attributes[ON_CPU] = ir.StringAttr.get(REASON)
