"""`dl-decompose-mish`: mish as a product with tanh of softplus."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeMish(Pass):
    """Write mish as a product with the hyperbolic tangent of softplus.

    before:
        %y = "dl.mish"(%x)
    after:
        %s = "dl.softplus"(%x)
        %t = "dl.tanh"(%s)
        %y = "dl.mul"(%x, %t)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "mish", _formula)


def _formula(x: ir.Value) -> ir.Value:
    found: ir.Value = dl.mul(x, dl.tanh(dl.softplus(x)))
    return found
