"""Put the loops of a nest into another order."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.interchange import interchange
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class InterchangeBand(Pass):
    """Put the loops of a nest into another order.

    before: affine.for %i { affine.for %j { affine.for %k { .. } } }
    after (loops=k,j): affine.for %i { affine.for %k { affine.for %j { .. } } }

    Loops that are not named stay where they are. Bounds that depend on other loops are turned around, too.
    """

    anchor = "func.func"

    loops: tuple[str, ...] = option((), "the loops in their new order, from the outside in")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return interchange(program, self.loops)
