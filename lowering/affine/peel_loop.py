"""Take the first or last iterations of a loop out of it."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.peel import peel
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class PeelLoop(Pass):
    """Take the first or last iterations of a loop out of it.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  S(0)   affine.for %i = 1 to 100 { S(%i) }

    The loop of what is peeled is called `<name>.first` or `<name>.last`.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    count: int = option(1, "iterations that are taken out")
    last: bool = option(False, "take them from the end")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return peel(program, self.loop, self.count, self.last)
