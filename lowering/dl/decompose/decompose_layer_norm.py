"""`dl-decompose-layer-norm`: layer norm as means, a root and a quotient."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.decompose.decomposing import decompose, scaled, standardized
from dlc.lowering.dl.matching import type_of
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeLayerNorm(Pass):
    """Write layer norm as means, a root and a quotient.

    before:
        %y = "dl.layer_norm"(%x, %scale, %bias)
    after:
        %m = "dl.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true}
        %c = "dl.sub"(%x, %m)
        ...
        %n = "dl.div"(%c, %root)
        %s = "dl.mul"(%n, %scale)
        %y = "dl.add"(%s, %bias)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "layer_norm", _formula)


def _formula(x: ir.Value, scale: ir.Value | None, bias: ir.Value | None, *, axis: int, epsilon: float) -> ir.Value:
    rank = type_of(x).rank
    return scaled(standardized(x, range(axis % rank, rank), epsilon), scale, bias)
