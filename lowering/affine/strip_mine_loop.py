"""Run a loop in strips: a loop in steps around a loop with the values of before."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.strip_mine import strip_mine
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class StripMineLoop(Pass):
    """Run a loop in strips: a loop in steps around a loop with the values of before.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.for %is = 0 to 100 step 32 { affine.for %i = %is to min(100, %is + 32) { S(%i) } }

    The outer loop is called `<name>.strip`.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    size: int = option(0, "iterations of a strip")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return strip_mine(program, self.loop, self.size)
