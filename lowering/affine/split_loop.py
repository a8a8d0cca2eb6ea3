"""Make two loops of one, both of which count from 0."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.split import split
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class SplitLoop(Pass):
    """Make two loops of one, both of which count from 0.

    before: affine.for %i = 0 to 100 { S(%i) }
    after:  affine.for %io = 0 to 4 { affine.for %ii = 0 to min(32, 100 - 32 * %io) { S(32 * %io + %ii) } }

    The new loops are called `<name>.outer` and `<name>.inner`.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    factor: int = option(0, "iterations of the inner loop")
    parts: int = option(0, "iterations of the outer loop, in place of `factor`")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return split(program, self.loop, self.factor, self.parts)
