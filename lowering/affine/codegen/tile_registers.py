"""Contractions and convolutions become register tiles."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.codegen.tiling import apply_blocks
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.nests import nests_of
from dlc.lowering.affine.schedule.given_tiles import given_tile
from dlc.lowering.affine.search.choose import chosen, is_contraction
from dlc.lowering.pass_base import Pass, option


@dataclass(frozen=True)
class AffineTileRegisters(Pass):
    """Cut every contraction into tiles whose accumulators stay in vector registers.

    before: parallel m, n { %r = for k iter_args(%acc) { %acc + a[m, k] * b[k, n] }; store %r, c[m, n] }
    after:  parallel n by 48, m by 8 { for k iter_args(24 vectors) { 3 vector loads of b, 8 loads of a, 24 products } ; stores }

    One loop becomes lanes: a parallel one along which all accesses are contiguous or fixed, or else the innermost reduction
    loop, whose partial results are combined at the end. Up to two parallel loops are unrolled and jammed. The tile is the
    one that a small cost model (`cost/instructions.py`) finds cheapest, tails included. Only loops marked `dlc.parallel` are moved.
    A nest whose outermost loop carries a `dlc.schedule` is cut as that says. Panels that are too large for the second-level cache
    are cut into blocks of the sum, one after the other (`blocking.py`).
    """

    anchor = "func.func"

    vector_bits: int = option(0, "bits of a vector register; 0: this machine's")
    registers: int = option(0, "number of vector registers; 0: this machine's")

    def run(self, op: ir.Operation) -> None:
        """Tile the contractions of one function."""
        limits = TileLimits.of(op, self.vector_bits, self.registers)
        for nest in nests_of(op):
            tile = given_tile(nest, "tile")
            if tile is None and is_contraction(nest):
                tile = chosen(nest, limits, "tile")
            if tile is not None and tile.code_generator == "tile":
                apply_blocks(nest, tile)
