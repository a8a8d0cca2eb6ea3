"""The axes of buffers that ops ask for by number."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.pass_base import PassFailure


def axis_of(dim: ir.Operation) -> int | None:
    """The axis whose size the `memref.dim` `dim` is, None where run time alone knows; `PassFailure` when there is no such axis."""
    position, kind = defining_op(dim.operands[1]), dim.operands[0].type
    if position is None or position.name != "arith.constant":
        return None
    axis = int(ir.IntegerAttr(position.attributes["value"]).value)
    if isinstance(kind, ir.MemRefType) and not 0 <= axis < kind.rank:
        raise PassFailure(dim, f"{kind} has no axis {axis}", "take one of its axes, numbered from 0")
    return axis
