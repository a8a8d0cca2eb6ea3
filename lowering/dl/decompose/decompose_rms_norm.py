"""`dl-decompose-rms-norm`: RMS norm as a mean square, a root and a quotient."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.decompose.decomposing import decompose, over_root, scaled
from dlc.lowering.dl.matching import type_of
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeRmsNorm(Pass):
    """Write RMS norm as a mean square, a root and a quotient.

    before:
        %y = "dl.rms_norm"(%x, %scale)
    after:
        %q = "dl.mul"(%x, %x)
        %m = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true}
        %a = "dl.add"(%m, %epsilon)
        %r = "dl.sqrt"(%a)
        %n = "dl.div"(%x, %r)
        %y = "dl.mul"(%n, %scale)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "rms_norm", _formula)


def _formula(x: ir.Value, scale: ir.Value | None, *, axis: int, epsilon: float) -> ir.Value:
    rank = type_of(x).rank
    return scaled(over_root(x, range(axis % rank, rank), epsilon), scale, None)
