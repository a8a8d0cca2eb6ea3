"""How much accuracy a module gives for speed: its attributes `dl.precision` and `dl.winograd`."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.dl.matching import type_of
from dlc.lowering.pass_base import PassFailure
from dlc.option_values import PRECISIONS
from dlc.targets.machine import facts_of, module_of

PRECISION = "dl.precision"
"""Module attribute: the narrowest type that operands of products may be rounded to, `f32`, `tf32` (on tensor cores) or `bf16`."""
WIDENING = frozenset({"dl.widening_matmul", "dl.widening_conv"})
"""Products of narrow operands whose results stay f32: what `dl-lower-precision` makes for a GPU."""
WINOGRAD = "dl.winograd"
"""Module attribute: the most results of a tile along one axis that the model's accuracy allows; 0 for none."""


def precision_of(module: ir.Operation) -> str:
    """What the module's `dl.precision` says, f32 without it; `PassFailure` for what is no precision."""
    if PRECISION not in module.attributes:
        return PRECISIONS[0]
    given = module.attributes[PRECISION]
    if not isinstance(given, ir.StringAttr) or given.value not in PRECISIONS:
        raise PassFailure(module, f"{PRECISION} is {given}", f"give one of {', '.join(PRECISIONS)} as a string")
    return str(given.value)


def multiplied_type(op: ir.Operation) -> str:
    """The type that tensor cores of a GPU multiply the operands of `op` in, by their own and what the module allows; "" for none.

    f32 stays exact unless `dl.precision` says tf32 or bf16; then products with weights are rounded, and for a
    GPU those of attention (`convert-attention-to-mma`).
    """
    own = type_of(op.operands[0]).dtype
    if own in ("f16", "bf16"):
        return own
    allowed = precision_of(module_of(op))
    return allowed if own == "f32" and allowed != PRECISIONS[0] else ""


def multiplies_bf16(op: ir.Operation) -> bool:
    """Whether convolutions of f32 with weights, such as `op`, become dot products of bf16: by the module's precision and target."""
    return precision_of(module_of(op)) == "bf16" and facts_of(op).prefers_bf16_dot
