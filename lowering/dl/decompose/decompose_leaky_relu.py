"""`dl-decompose-leaky-relu`: leaky ReLU as a choice."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeLeakyRelu(Pass):
    """Write leaky ReLU as a choice.

    before:
        %y = "dl.leaky_relu"(%x)
    after:
        %c = "dl.less"(%x, %zero)
        %s = "dl.mul"(%x, %alpha)
        %y = "dl.where"(%c, %s, %x)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "leaky_relu", _formula)


def _formula(x: ir.Value, *, alpha: float) -> ir.Value:
    found: ir.Value = dl.where(dl.less(x, number(0, x)), dl.mul(x, number(alpha, x)), x)
    return found
