"""Write out iterations of a loop one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.unroll import unroll
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class UnrollLoop(Pass):
    """Write out iterations of a loop one after the other.

    before: affine.for %i = 0 to 100 { S(%i) }
    after (factor=8): affine.for %i = 0 to 96 step 8 { S(%i)  S(%i + 1) .. S(%i + 7) }   affine.for %i = 96 to 100 { S(%i) }

    The loop over what is left is called `<name>.rest`.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    factor: int = option(0, "iterations that are written out; 0: all of them")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return unroll(program, self.loop, self.factor)
