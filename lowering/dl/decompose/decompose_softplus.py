"""`dl-decompose-softplus`: softplus as a rectifier and a logarithm that can't overflow."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeSoftplus(Pass):
    """Write softplus as a rectifier and a logarithm that can't overflow.

    before:
        %y = "dl.softplus"(%x)
    after:
        %r = "dl.relu"(%x)
        %e = "dl.exp"(%n)      // %n = -|%x|
        %l = "dl.log1p"(%e)
        %y = "dl.add"(%r, %l)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "softplus", _formula)


def _formula(x: ir.Value) -> ir.Value:
    found: ir.Value = dl.add(dl.relu(x), dl.log1p(dl.exp(dl.neg(dl.abs(x)))))
    return found
