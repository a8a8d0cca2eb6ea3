"""`dl-decompose-log-softmax`: log_softmax as a difference of logarithms."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeLogSoftmax(Pass):
    """Write log_softmax as a difference of logarithms.

    before:
        %y = "dl.log_softmax"(%x) {axis = 1 : i64}
    after:
        %m = "dl.reduce_max"(%x) {axes = array<i64: 1>, keepdims = true}
        %s = "dl.sub"(%x, %m)
        %e = "dl.exp"(%s)
        %t = "dl.reduce_sum"(%e) {axes = array<i64: 1>, keepdims = true}
        %l = "dl.log"(%t)
        %y = "dl.sub"(%s, %l)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "log_softmax", _formula)


def _formula(x: ir.Value, *, axis: int) -> ir.Value:
    shifted = dl.sub(x, dl.reduce_max(x, axes=[axis], keepdims=True))
    total = dl.reduce_sum(dl.exp(shifted), axes=[axis], keepdims=True)
    found: ir.Value = dl.sub(shifted, dl.log(total))
    return found
