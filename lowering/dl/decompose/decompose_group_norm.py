"""`dl-decompose-group-norm`: group norm as means over groups, a root and a quotient."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, per_channel, scaled, standardized
from dlc.lowering.dl.matching import type_of
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeGroupNorm(Pass):
    """Write group norm as means over groups, a root and a quotient, between two reshapes.

    before:
        %y = "dl.group_norm"(%x, %scale, %bias) {num_groups = 2 : i64}
    after:
        %g = "dl.reshape"(%x) ... : (tensor<?x6x8xf32>) -> tensor<?x2x3x8xf32>
        %m = "dl.reduce_mean"(%g) {axes = array<i64: 2, 3>, keepdims = true}
        ...
        %n = "dl.div"(%c, %root)
        %b = "dl.reshape"(%n) ... : (tensor<?x2x3x8xf32>) -> tensor<?x6x8xf32>
        %s = "dl.mul"(%b, %scale1)    // %scale1 = %scale as [channels, 1]
        %y = "dl.add"(%s, %bias1)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "group_norm", _formula)


def _formula(x: ir.Value, scale: ir.Value, bias: ir.Value, *, num_groups: int, epsilon: float) -> ir.Value:
    kind = type_of(x)
    channels, spatial = kind.shape[1], range(2, kind.rank)
    size = channels // num_groups if isinstance(channels, int) else -1
    split = [-1, num_groups, size, *[-1 for _ in spatial]]
    grouped = dl.reshape(x, shape=split, copied=[0, -1, -1, *spatial])
    normal = standardized(grouped, range(2, kind.rank + 1), epsilon)
    merged = [-1, channels if isinstance(channels, int) else -1, *[-1 for _ in spatial]]
    back = dl.reshape(normal, shape=merged, copied=[0, -1, *(axis + 1 for axis in spatial)])
    return scaled(back, per_channel(scale, x), per_channel(bias, x))
