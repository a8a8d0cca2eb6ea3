"""Cut a loop in two at a value of its variable."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.split_index_set import split_index_set
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class SplitIndexSet(Pass):
    """Cut a loop in two at a value of its variable.

    before: affine.for %i = 0 to 100 { S(%i) }
    after (at=64): affine.for %i = 0 to 64 { S(%i) }   affine.for %i = 64 to 100 { S(%i) }

    The new loops are called `<name>.below` and `<name>.above`.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    at: str = option(
        "0", "first value of the second loop: an affine expression of sizes p0, p1, ... and of loops around (names, or d0, d1, ...)"
    )
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return split_index_set(program, self.loop, self.at)
