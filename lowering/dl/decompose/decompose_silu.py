"""`dl-decompose-silu`: SiLU as a product with the sigmoid."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeSilu(Pass):
    """Write SiLU as a product with the sigmoid.

    before:
        %y = "dl.silu"(%x)
    after:
        %g = "dl.sigmoid"(%x)
        %y = "dl.mul"(%x, %g)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "silu", _formula)


def _formula(x: ir.Value, *, alpha: float) -> ir.Value:
    inner = x if alpha == 1 else dl.mul(x, number(alpha, x))
    found: ir.Value = dl.mul(x, dl.sigmoid(inner))
    return found
