"""Steps given for a kernel change its loops."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.schedule.assign_schedules import STEPS
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class AffineApplySteps(Pass):
    """Change the loops of a kernel by the steps of its attribute `dlc.steps`, which is gone afterwards.

    Each step is checked as `dlc.Schedule` does, whose calls they are. Loops that a step changes are marked `dlc.as_written`: search
    and code generators leave them, but for nests that `tile_registers` or `search` names. Other loops stay as they are.

    before: func.func @kernel() attributes {dlc.steps = ["split(loop='S0:0', factor=32)"]} { affine.for %i = 0 to 96 { S(%i) } }
    after:  func.func @kernel() { affine.for %io = 0 to 3 { affine.for %ii = 0 to 32 { S(32 * %io + %ii) } } {dlc.as_written} }
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Follow the steps of one function."""
        if STEPS not in op.attributes:
            return
        from dlc.lowering.affine.schedule.kernel_loops import apply_lines  # brings isl, which other kernels do without

        given = op.attributes[STEPS]
        if not isinstance(given, ir.ArrayAttr) or not all(isinstance(line, ir.StringAttr) for line in given):
            raise PassFailure(op, f"'{STEPS}' is no array of texts", "give one step in each")
        lines = [line.value for line in given]
        del op.attributes[STEPS]
        apply_lines(op, lines)
