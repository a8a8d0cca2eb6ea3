"""Lowering of bitcast."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("bitcast")
def lower_bitcast(b: Builder, op: SourceOp) -> ir.Value:
    """One arith.bitcast; nothing between integers, whose sign is not in their type; i1 grows to a byte."""
    x, source, target = op.operands[0], op.types[0].dtype, op["to"]
    kind = b.element(target)
    if b.element(source) == kind:
        return x
    if source == "i1":
        return b.map([x], b.shape(x), target, lambda element: b.convert(element, source, target))
    return b.map([x], b.shape(x), kind, lambda element: b.create("arith.bitcast", [kind], [element]))
