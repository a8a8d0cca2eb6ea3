"""`dl-decompose-softmax`: softmax as exponentials over their sum."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class DecomposeSoftmax(Pass):
    """Write softmax as exponentials over their sum.

    before:
        %y = "dl.softmax"(%x) {axis = 1 : i64}
    after:
        %m = "dl.reduce_max"(%x) {axes = array<i64: 1>, keepdims = true}
        %s = "dl.sub"(%x, %m)
        %e = "dl.exp"(%s)
        %t = "dl.reduce_sum"(%e) {axes = array<i64: 1>, keepdims = true}
        %y = "dl.div"(%e, %t)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        decompose(op, "softmax", _formula)


def _formula(x: ir.Value, *, axis: int) -> ir.Value:
    powers = dl.exp(dl.sub(x, dl.reduce_max(x, axes=[axis], keepdims=True)))
    found: ir.Value = dl.div(powers, dl.reduce_sum(powers, axes=[axis], keepdims=True))
    return found
