"""Loops whose steps must lead somewhere."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.pass_base import PassFailure


def require_steps(function: ir.Operation) -> None:
    """Refuse an `scf.for` whose step is not positive, which would never end; one that run time knows is checked before the loop."""
    for op in nested_ops(function):
        if op.name == "scf.for":
            _require_step(op)


def _require_step(loop: ir.Operation) -> None:
    step = loop.operands[2]
    source = defining_op(step)
    if source is None or source.name != "arith.constant":
        b = Builder(ir.InsertionPoint(loop), loop.location, op_name=loop.name)
        one = b.create("arith.constant", [step.type], [], {"value": ir.IntegerAttr.get(step.type, 1)})
        b.require(b.compare_index("ge", step, one), "the step is {} but must be at least {}")
        return
    known = ir.IntegerAttr(source.attributes["value"]).value
    if known < 1:
        raise PassFailure(loop, f"the loop's step is {known}, so it never ends", "make it 1 or more")
