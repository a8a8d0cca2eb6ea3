"""Elementwise loops and plain reductions become vector loops."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.codegen.tiling import apply
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.nests import nests_of
from dlc.lowering.affine.schedule.given_tiles import given_tile
from dlc.lowering.affine.search.choose import chosen
from dlc.lowering.pass_base import Pass, option


@dataclass(frozen=True)
class AffineVectorizeLoops(Pass):
    """Turn one loop of every scalar nest into vectors.

    before: affine.for %i = 0 to 100 { load x[%i]; math.exp; store y[%i] } {dlc.parallel}
    after:  affine.for %i = 0 to 96 step 16 { vector load; math.exp on vectors; vector store } {dlc.parallel}
            and a masked step for the last 4

    The loop is a parallel one along which every store is contiguous, or else the innermost reduction loop (sums, maxima,
    ... over the last axis), with up to four vectors of partial results. A tail is masked, or scalar where made-up lanes
    could trap. Nests that have no such loop, or where it would not pay, stay as they are.
    A nest whose outermost loop carries a `dlc.schedule` is cut as that says.
    """

    anchor = "func.func"

    vector_bits: int = option(0, "bits of a vector register; 0: this machine's")
    registers: int = option(0, "number of vector registers; 0: this machine's")

    def run(self, op: ir.Operation) -> None:
        """Vectorise the scalar nests of one function."""
        limits = TileLimits.of(op, self.vector_bits, self.registers)
        for nest in nests_of(op):
            tile = given_tile(nest, "rows") or chosen(nest, limits, "rows")
            if tile is not None and tile.code_generator == "rows":
                apply(nest, tile)
