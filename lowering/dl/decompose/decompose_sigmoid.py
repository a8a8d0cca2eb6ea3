"""`dl-decompose-sigmoid`: the sigmoid as the inverse of 1 + exp(-x)."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeSigmoid(Pass):
    """Write the sigmoid as the inverse of 1 + exp(-x).

    before:
        %y = "dl.sigmoid"(%x)
    after:
        %n = "dl.neg"(%x)
        %e = "dl.exp"(%n)
        %t = "dl.add"(%e, %one)
        %y = "dl.reciprocal"(%t)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "sigmoid", _formula)


def _formula(x: ir.Value) -> ir.Value:
    found: ir.Value = dl.reciprocal(dl.add(dl.exp(dl.neg(x)), number(1, x)))
    return found
