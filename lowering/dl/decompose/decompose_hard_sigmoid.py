"""`dl-decompose-hard-sigmoid`: hard sigmoid as a line between bounds."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeHardSigmoid(Pass):
    """Write hard sigmoid as a line between bounds.

    before:
        %y = "dl.hard_sigmoid"(%x)
    after:
        %s = "dl.mul"(%x, %alpha)
        %t = "dl.add"(%s, %beta)
        %y = "dl.clip"(%t) {low = 0.0 : f64, high = 1.0 : f64}
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "hard_sigmoid", _formula)


def _formula(x: ir.Value, *, alpha: float, beta: float) -> ir.Value:
    line = dl.add(dl.mul(x, number(alpha, x)), number(beta, x))
    found: ir.Value = dl.clip(line, low=0.0, high=1.0)
    return found
