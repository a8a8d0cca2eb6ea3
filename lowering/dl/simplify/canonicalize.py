"""`dl-canonicalize`: one form for what can be written in several ways, and nothing that has no effect."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.matching import dl_ops, erase_unused, functions
from dlc.lowering.dl.rewriting import apply_rules
from dlc.lowering.dl.simplify.canonical_algebra import ALGEBRA
from dlc.lowering.dl.simplify.canonical_logic import LOGIC
from dlc.lowering.dl.simplify.canonical_moves import MOVES
from dlc.lowering.dl.simplify.canonical_shapes import SHAPES
from dlc.lowering.pass_base import Pass

RULES = (ALGEBRA, LOGIC, SHAPES, MOVES)


@dataclass(frozen=True)
class Canonicalize(Pass):
    """Drop ops without effect, merge chains of ops of one kind, and choose the cheaper of equal forms.

    Results stay equal bit by bit, but for the sign of a zero that a sum of one element has, and powers that become products
    and roots.

    before:
        %0 = "dl.transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
        %1 = "dl.transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
        %2 = "dl.pow"(%1, %two) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    after:
        %2 = "dl.mul"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, *RULES)
            erase_unused(dl_ops(function))
