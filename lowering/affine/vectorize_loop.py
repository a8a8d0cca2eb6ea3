"""Run iterations of a loop as lanes of vectors, in the innermost loops within it."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.vectorize import vectorize
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class VectorizeLoop(Pass):
    """Run iterations of a loop as lanes of vectors, in the innermost loops within it.

    before: affine.for %i = 0 to 100 { %x = affine.load %A[%i]  %y = arith.negf %x  affine.store %y, %B[%i] }
    after (width=8): affine.for %i = 0 to 96 step 8 {
              %x = affine.vector_load %A[%i]  %y = arith.negf %x : vector<8xf32>  affine.vector_store %y, %B[%i] }
            affine.for %i = 96 to 100 { .. }

    Neighbouring elements are loaded and stored as vectors, the same one for all lanes is broadcast, others go one by one.
    """

    anchor = "func.func"

    loop: str = option("", "the loop")
    width: int = option(8, "lanes of a vector")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return vectorize(program, self.loop, self.width)
