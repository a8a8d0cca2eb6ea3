"""Make a loop of its own for each item of a loop's body (loop fission)."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.distribute import distribute
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class DistributeLoop(Pass):
    """Make a loop of its own for each item of a loop's body (loop fission).

    before: affine.for %i = 0 to 100 { S0(%i)  S1(%i) }
    after:  affine.for %i = 0 to 100 { S0(%i) }   affine.for %i = 0 to 100 { S1(%i) }

    The new loops are called `<name>.0`, `<name>.1`, and so on.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    before: tuple[str, ...] = option((), "statements that begin a new loop; every item of the body where none are named")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return distribute(program, self.loop, self.before)
