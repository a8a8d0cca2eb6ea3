"""`dl-decompose-instance-norm`: instance norm as means, a root and a quotient."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.decompose.decomposing import decompose, per_channel, scaled, standardized
from dlc.lowering.dl.matching import type_of
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeInstanceNorm(Pass):
    """Write instance norm as means over the spatial axes, a root and a quotient.

    before:
        %y = "dl.instance_norm"(%x, %scale, %bias)
    after:
        %m = "dl.reduce_mean"(%x) {axes = array<i64: 2, 3>, keepdims = true}
        %c = "dl.sub"(%x, %m)
        ...
        %n = "dl.div"(%c, %root)
        %s = "dl.mul"(%n, %scale1)    // %scale1 = %scale as [channels, 1, 1]
        %y = "dl.add"(%s, %bias1)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "instance_norm", _formula)


def _formula(x: ir.Value, scale: ir.Value, bias: ir.Value, *, epsilon: float) -> ir.Value:
    normal = standardized(x, range(2, type_of(x).rank), epsilon)
    return scaled(normal, per_channel(scale, x), per_channel(bias, x))
