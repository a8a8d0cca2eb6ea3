"""Let the values of an inner loop move with those of an outer one."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.skew import skew
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class SkewBand(Pass):
    """Let the values of an inner loop move with those of an outer one.

    before: affine.for %t = 0 to 10 { affine.for %i = 1 to 99 { S(%t, %i) } }
    after:  affine.for %t = 0 to 10 { affine.for %i = %t + 1 to %t + 99 { S(%t, %i - %t) } }

    The order stays what it was; dependences that went back in the inner loop no longer do, so that tiling becomes legal.
    """

    anchor = "func.func"

    inner: str = option("", "the loop that moves")
    outer: str = option("", "a loop around it")
    factor: int = option(1, "how far it moves with each value of the outer loop")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return skew(program, self.inner, self.outer, self.factor)
