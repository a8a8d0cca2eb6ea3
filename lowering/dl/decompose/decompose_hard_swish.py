"""`dl-decompose-hard-swish`: hard-swish as a product with a line between bounds."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeHardSwish(Pass):
    """Write hard-swish as a product with a line between bounds.

    before:
        %y = "dl.hard_swish"(%x)
    after:
        %t = "dl.add"(%x, %three)
        %c = "dl.clip"(%t) {low = 0.0 : f64, high = 6.0 : f64}
        %g = "dl.div"(%c, %six)
        %y = "dl.mul"(%x, %g)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "hard_swish", _formula)


def _formula(x: ir.Value) -> ir.Value:
    gate = dl.clip(dl.add(x, number(3, x)), low=0.0, high=6.0)
    found: ir.Value = dl.mul(x, dl.div(gate, number(6, x)))
    return found
