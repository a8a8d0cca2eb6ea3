"""`dl-lower-precision`: products with weights read these in bf16, and sum in f32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import WeightFacts, attributes_of, dl_ops, functions, type_of
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.targets.cpu.facts import facts_of

PRECISION = "dl.precision"
"""Module attribute: the narrowest type that operands of products may be rounded to, `f32` or `bf16`."""
PRECISIONS = ("f32", "bf16")


@dataclass(frozen=True)
class LowerPrecision(Pass):
    """Let products with packed weights read them in bf16, where the module's accuracy allows it.

    The module attribute `dl.precision = "bf16"`, which `compile(precision="bf16")` sets, does. Weights are rounded once, by an op
    on weights, and come in pairs; sums and all other ops stay f32. Where the target has dot products of bf16 (vdpbf16ps, bfdot),
    the other side is rounded, too, by the op that computes it if nothing else takes that; elsewhere it stays f32, which is
    more accurate, and weights become f32 again by shifts: that takes half the traffic of weights, and no fewer multiply-adds.

    before: %0 = "dl.packed_matmul"(%x, %w) : (tensor<4x768xf32>, tensor<64x768x48xf32>) -> tensor<4x3072xf32>
    after:  %p = "dl.bf16_pairs"(%w) : (tensor<64x768x48xf32>) -> tensor<64x384x48xi32>
            %b = "dl.cast"(%x) {to = bf16} : (tensor<4x768xf32>) -> tensor<4x768xbf16>
            %0 = "dl.pair_matmul"(%b, %p) : (tensor<4x768xbf16>, tensor<64x384x48xi32>) -> tensor<4x3072xf32>
    """

    to: Literal["module", "f32", "bf16"] = option("module", "type of operands: f32, bf16, or what dl.precision says")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if (precision_of(op) if self.to == "module" else self.to) == PRECISIONS[0]:
            return
        rounds = facts_of(op).has_bf16_dot
        for function in functions(op):
            if "dl.precompute" in function.attributes:
                continue
            facts = WeightFacts()
            for operation in dl_ops(function):
                if _is_lowered(operation, facts):
                    facts.forget(operation)
                    _lower(operation, rounds)


def precision_of(module: ir.Operation) -> str:
    """What the module's `dl.precision` says, f32 without it; `PassFailure` for what is no precision."""
    if PRECISION not in module.attributes:
        return PRECISIONS[0]
    given = module.attributes[PRECISION]
    if not isinstance(given, ir.StringAttr) or given.value not in PRECISIONS:
        raise PassFailure(module, f"{PRECISION} is {given}", f"give one of {', '.join(PRECISIONS)} as a string")
    return str(given.value)


def _is_lowered(op: ir.Operation, is_weight: WeightFacts) -> bool:
    """Whether `op` is a product of computed f32 rows with blocks of weights."""
    if op.name != "dl.packed_matmul" or op.parent.name != "func.func":
        return False
    x, weight = op.operands
    kind = type_of(weight)
    return kind.dtype == "f32" and kind.is_static and 0 not in kind.shape and is_weight(weight) and not is_weight(x)


def _lower(op: ir.Operation, rounds: bool) -> None:
    x, weight = op.operands
    inner = type_of(weight).dim(1)
    assert isinstance(inner, int)
    with op.location, ir.InsertionPoint(op):
        if rounds:
            x = dl.cast(x, to="bf16")
        if inner % 2:
            rank = type_of(x).rank
            x = dl.pad(x, None, low=[0] * rank, high=[*[0] * (rank - 1), 1])
        product = dl.pair_matmul(x, dl.bf16_pairs(weight), columns=attributes_of(op)["columns"])
        op.results[0].replace_all_uses_with(product)
    op.erase()
