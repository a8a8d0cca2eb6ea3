"""Loops whose steps must lead somewhere, in a time that somebody would wait for."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy


def require_steps(function: ir.Operation) -> None:
    """Refuse an `scf.for` whose step is not positive, which would never end; one that run time knows is checked before the loop.

    One of more known steps than the policy allows (`limits.loop_steps`) is refused, too.
    """
    for op in nested_ops(function):
        if op.name == "scf.for":
            _require_step(op)
            _require_end(op)


def _require_step(loop: ir.Operation) -> None:
    step = loop.operands[2]
    known = _constant(step)
    if known is None:
        b = Builder(ir.InsertionPoint(loop), loop.location, op_name=loop.name)
        one = b.create("arith.constant", [step.type], [], {"value": ir.IntegerAttr.get(step.type, 1)})
        b.require(b.compare_index("ge", step, one), "the step is {} but must be at least {}")
        return
    if known < 1:
        raise PassFailure(loop, f"the loop's step is {known}, so it never ends", "make it 1 or more")


def _require_end(loop: ir.Operation) -> None:
    first, last, step = (_constant(bound) for bound in list(loop.operands)[:3])
    if first is None or last is None or step is None:
        return
    steps, most = -(-(last - first) // step), policy().limits.loop_steps
    if steps > most:
        raise PassFailure(
            loop, f"the loop has {steps} steps, which would take hours", f"make it {most} or fewer, or a condition end it"
        )


def _constant(value: ir.Value) -> int | None:
    """The number that an `arith.constant` gives; None for other values."""
    source = defining_op(value)
    if source is None or source.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(source.attributes["value"]).value)
