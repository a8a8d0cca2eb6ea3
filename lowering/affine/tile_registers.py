"""Contractions and convolutions become register tiles."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.choose import Machine, cheapest
from dlc.lowering.affine.loops import real_ops
from dlc.lowering.affine.nests import Nest, nests_of
from dlc.lowering.affine.order import best_order
from dlc.lowering.affine.tiling import apply_tile
from dlc.lowering.pass_base import Pass, option


@dataclass(frozen=True)
class AffineTileRegisters(Pass):
    """Cut every contraction into tiles whose accumulators stay in vector registers.

    before: parallel m, n { %r = for k iter_args(%acc) { %acc + a[m, k] * b[k, n] }; store %r, c[m, n] }
    after:  parallel n by 48, m by 8 { for k iter_args(24 vectors) { 3 vector loads of b, 8 loads of a, 24 products } ; stores }

    One loop becomes lanes: a parallel one along which all accesses are contiguous or fixed, or else the innermost reduction
    loop, whose partial results are combined at the end. Up to two parallel loops are unrolled and jammed. The tile is the
    one that a small cost model (`cost.py`) finds cheapest, tails included. Only loops marked `dlc.parallel` are moved.
    """

    anchor = "func.func"

    vector_bits: int = option(0, "bits of a vector register; 0: this machine's")
    registers: int = option(0, "number of vector registers; 0: this machine's")

    def run(self, op: ir.Operation) -> None:
        """Tile the contractions of one function."""
        machine = Machine.of(op, self.vector_bits, self.registers)
        for nest in nests_of(op):
            if not is_contraction(nest):
                continue
            choice = cheapest(nest, machine, jam=True)
            if choice is not None:
                apply_tile(nest, choice.tile, choice.facts, best_order(nest, choice.tile))


def is_contraction(nest: Nest) -> bool:
    """Whether the nest sums products of two loaded values."""
    if nest.chain is None:
        return False
    products = [op for op in real_ops(nest.hot_block) if op.name in ("arith.mulf", "arith.muli")]
    loads = [op for op in real_ops(nest.hot_block) if op.name == "affine.load"]
    sums = [combiner.name in ("arith.addf", "arith.addi") for combiner in nest.chain.combiners]
    return all(sums) and bool(products) and len(loads) > 1
