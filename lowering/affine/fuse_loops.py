"""Make one loop of two that follow each other."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.fuse import fuse
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class FuseLoops(Pass):
    """Make one loop of two that follow each other.

    before: affine.for %i = 0 to 100 { S0(%i) }   affine.for %i = 0 to 100 { S1(%i) }
    after:  affine.for %i = 0 to 100 { S0(%i)  S1(%i) }

    The bodies run together for equal values. Where the ranges differ, the loop is cut or a body has a condition.
    What lay between the loops comes after the new one where that is legal, else before it.
    """

    anchor = "func.func"

    first: str = option("", "one loop")
    second: str = option("", "another loop of the same block")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return fuse(program, self.first, self.second)
