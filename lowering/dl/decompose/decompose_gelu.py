"""`dl-decompose-gelu`: GELU as a product with the error function or tanh."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeGelu(Pass):
    """Write GELU as a product with the error function or the hyperbolic tangent.

    before:
        %y = "dl.gelu"(%x)
    after:
        %s = "dl.mul"(%x, %c)         // %c = sqrt(1 / 2)
        %e = "dl.erf"(%s)
        %g = "dl.add"(%e, %one)
        %h = "dl.mul"(%x, %half)
        %y = "dl.mul"(%h, %g)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "gelu", _formula)


def _formula(x: ir.Value, *, approximate: str) -> ir.Value:
    half = dl.mul(x, number(0.5, x))
    if approximate == "tanh":
        cube = dl.mul(dl.mul(x, dl.mul(x, x)), number(0.044715, x))
        bent = dl.tanh(dl.mul(dl.add(x, cube), number(math.sqrt(2 / math.pi), x)))
    else:
        bent = dl.erf(dl.mul(x, number(math.sqrt(0.5), x)))
    found: ir.Value = dl.mul(half, dl.add(bent, number(1, x)))
    return found
