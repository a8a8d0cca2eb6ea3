"""`dl-decompose-batch-norm`: batch norm as arithmetic with its weights."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number, per_channel, scaled
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeBatchNorm(Pass):
    """Write batch norm as arithmetic with its weights.

    before:
        %y = "dl.batch_norm"(%x, %scale, %bias, %mean, %var)
    after:
        %c = "dl.sub"(%x, %mean1)     // %mean1 = %mean as [channels, 1, 1]
        %a = "dl.add"(%var1, %epsilon)
        %r = "dl.sqrt"(%a)
        %n = "dl.div"(%c, %r)
        %s = "dl.mul"(%n, %scale1)
        %y = "dl.add"(%s, %bias1)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "batch_norm", _formula)


def _formula(x: ir.Value, scale: ir.Value, bias: ir.Value, mean: ir.Value, var: ir.Value, *, epsilon: float) -> ir.Value:
    scale, bias, mean, var = (per_channel(item, x) for item in (scale, bias, mean, var))
    normal = dl.div(dl.sub(x, mean), dl.sqrt(dl.add(var, number(epsilon, x))))
    return scaled(normal, scale, bias)
