"""Run a loop from its last iteration to its first."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.reverse import reverse
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class ReverseLoop(Pass):
    """Run a loop from its last iteration to its first.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.for %i = 0 to 100 { S(99 - %i) }
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return reverse(program, self.loop)
