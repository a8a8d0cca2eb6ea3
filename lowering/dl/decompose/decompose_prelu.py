"""`dl-decompose-prelu`: PReLU as a choice."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposePrelu(Pass):
    """Write PReLU as a choice.

    before:
        %y = "dl.prelu"(%x, %slope)
    after:
        %c = "dl.less"(%x, %zero)
        %s = "dl.mul"(%x, %slope)
        %y = "dl.where"(%c, %s, %x)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "prelu", _formula)


def _formula(x: ir.Value, slope: ir.Value) -> ir.Value:
    found: ir.Value = dl.where(dl.less(x, number(0, x)), dl.mul(x, slope), x)
    return found
