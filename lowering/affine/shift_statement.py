"""Run a statement some iterations later, or earlier, than the rest of a loop's body."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.shift import shift
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class ShiftStatement(Pass):
    """Run a statement some iterations later, or earlier, than the rest of a loop's body.

    before: affine.for %i = 0 to 100 { S0(%i)  S1(%i) }
    after (S1 by 1): S0(0)   affine.for %i = 1 to 100 { S0(%i)  S1(%i - 1) }   S1(99)
    """

    anchor = "func.func"

    statement: str = option("", "the statement")
    loop: str = option("", "a loop around it")
    distance: int = option(1, "iterations that it moves")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return shift(program, self.statement, self.loop, self.distance)
