"""Write out iterations of an outer loop inside the loops within it."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.unroll_and_jam import unroll_and_jam
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class UnrollAndJamLoop(Pass):
    """Write out iterations of an outer loop inside the loops within it.

    before: affine.for %i = 0 to 100 { affine.for %k = 0 to 64 { S(%i, %k) } }
    after (factor=4): affine.for %i = 0 to 100 step 4 { affine.for %k = 0 to 64 { S(%i, %k)  S(%i + 1, %k) .. S(%i + 3, %k) } }

    What not every iteration of a group has, and iterations that fill no group, run in loops of their own.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    factor: int = option(2, "iterations that run together")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return unroll_and_jam(program, self.loop, self.factor)
