"""Run a nest of loops tile by tile."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.tile import tile
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class TileBand(Pass):
    """Run a nest of loops tile by tile.

    before: affine.for %i = 0 to 100 { affine.for %j = 0 to 50 { .. } }
    after:  affine.for %it = 0 to 100 step 32 { affine.for %jt = 0 to 50 step 16 {
              affine.for %i = %it to min(100, %it + 32) { affine.for %j = %jt to min(50, %jt + 16) { .. } } } }

    The loops lie directly in each other. Tiles begin at the least value of a loop. The loops over tiles are called `<name>.tile`.
    """

    anchor = "func.func"

    loops: tuple[str, ...] = option((), "the loops, from the outside in")
    sizes: tuple[int, ...] = option((), "iterations of each loop in a tile")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return tile(program, self.loops, self.sizes)
