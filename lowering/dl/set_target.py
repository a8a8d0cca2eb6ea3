"""`dl-set-target`: state which CPU a module's code is for, or which GPU its kernels are for."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.targets.machine import state_target


@dataclass(frozen=True)
class SetTarget(Pass):
    """Give the module the attribute `dlc.target`, which later passes take the facts of the CPU from.

    Without the attribute they take this machine's. It runs at any level, before the passes that choose vectors. The facts of a GPU
    go to the attribute `dlc.gpu`, beside those of the CPU that runs the rest.

    before: module { ... }
    after:  module attributes {dlc.target = {processor = "haswell", arch = "x86_64", features = ["avx2", "fma", ...], ...}} { ... }
    """

    target: str = option("cpu", "the target, as --target of dlc: cpu (this machine), cpu:haswell, gpu:sm_90, ...")

    def run(self, op: ir.Operation) -> None:
        """Mark the module `op`; `TargetError` for an unknown name."""
        state_target(op, self.target)
