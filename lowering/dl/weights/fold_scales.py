"""`dl-fold-scales`: factors and shifts by weights go into the contractions and attentions beside them."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.matching import dl_ops, erase_unused, functions
from dlc.lowering.dl.rewriting import apply_rules
from dlc.lowering.dl.weights.scale_chains import CHAIN_RULES
from dlc.lowering.dl.weights.scales import SCALE_RULES
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class FoldScales(Pass):
    """Fold factors and shifts that are weights into contractions with a weight, and scalar factors into attentions.

    A factor or shift is a scalar or has one number per channel of what it is combined with, which nothing else uses and whose
    shape it surely keeps. In f16 and bf16 only first biases and attention take part, since weights would be rounded again.

    before:
        %0 = "dl.conv"(%x, %w) ...
        %1 = "dl.mul"(%0, %factor) ...
        %2 = "dl.add"(%1, %shift) ...
    after:
        %2 = "dl.conv"(%x, %w * %factor, %shift) ...
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            erase_unused(dl_ops(function))
            while apply_rules(function, SCALE_RULES, CHAIN_RULES):
                pass  # a value that got down to one use may suit a rule whose root is further on
