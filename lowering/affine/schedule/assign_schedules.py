"""Schedules given for a function go to its nests."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.loops import NEST, SCHEDULE
from dlc.lowering.affine.ir.nests import Nest, nests_of
from dlc.lowering.pass_base import Pass, PassFailure

SCHEDULES = "dlc.schedules"
STEPS = "dlc.steps"
"""Attribute of a kernel: the steps of its `dlc.Schedule`, one call a text, which `affine-apply-steps` makes before."""
_REMEDY = "write the schedules of this version of the kernel with `dlc compile --emit=schedule`"


@dataclass(frozen=True)
class AffineAssignSchedules(Pass):
    """Number the nests of a function, and put the schedules of its attribute `dlc.schedules` on them.

    The attribute has one entry for each nest that is not left to the cost model, by the nest's number: its place in the order
    of the text. It is gone afterwards.

    before: func.func @kernel() attributes {dlc.schedules = {"1" = {code_generator = "tile", ...}}} { two nests }
    after:  func.func @kernel() { affine.for ... {dlc.nest = 0}   affine.for ... {dlc.nest = 1, dlc.schedule = {...}} }
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Give the nests of one function their numbers and schedules."""
        nests = nests_of(op)
        for number, nest in enumerate(nests):
            nest.top.attributes[NEST] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
        if SCHEDULES not in op.attributes:
            return
        for name, schedule in _entries(op).items():
            _nest_called(op, nests, name).top.attributes[SCHEDULE] = schedule
        del op.attributes[SCHEDULES]


def _entries(op: ir.Operation) -> dict[str, ir.Attribute]:
    given = op.attributes[SCHEDULES]
    if not isinstance(given, ir.DictAttr):
        raise PassFailure(op, f"'{SCHEDULES}' is {given} but must be a dictionary of schedules by nest", _REMEDY)
    return {named.name: named.attr for named in given}


def _nest_called(op: ir.Operation, nests: list[Nest], name: str) -> Nest:
    if not name.isdecimal() or int(name) >= len(nests):
        known = f"nests 0 to {len(nests) - 1}" if nests else "no nests"
        raise PassFailure(op, f"'{SCHEDULES}' has an entry for nest '{name}' but the function has {known}", _REMEDY)
    return nests[int(name)]
