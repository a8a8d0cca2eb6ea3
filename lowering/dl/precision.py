"""How much accuracy a module gives for speed: its attributes `dl.precision` and `dl.winograd`."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.pass_base import PassFailure
from dlc.option_values import PRECISIONS
from dlc.targets.machine import facts_of

PRECISION = "dl.precision"
"""Module attribute: the narrowest type that operands of products may be rounded to, `f32`, `tf32` (on tensor cores) or `bf16`."""
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


def multiplies_bf16(op: ir.Operation) -> bool:
    """Whether convolutions of f32 with weights, such as `op`, become dot products of bf16: by the module's precision and target."""
    module = op
    while module.name != "builtin.module":
        if module.parent is None:
            return False
        module = module.parent
    return precision_of(module) == "bf16" and facts_of(op).prefers_bf16_dot
