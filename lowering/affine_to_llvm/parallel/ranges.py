"""The ranges of loops: their bounds, and what the runtime needs to know of them as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, func, ir
from dlc.lowering.affine.ir.loops import Bound, apply


@dataclass(frozen=True)
class LoopRange:
    """An `affine.for` from the largest of `lower` to the smallest of `upper`, in steps."""

    op: ir.Operation
    lower: Bound
    upper: Bound
    step: int

    @property
    def first(self) -> int | None:
        """The first value of the variable, None when it is dynamic."""
        return _static(self.lower)

    @property
    def trips(self) -> int | None:
        """The number of iterations, None when it is dynamic."""
        lower, upper = self.first, _static(self.upper)
        return None if lower is None or upper is None else max(0, -((lower - upper) // self.step))

    @property
    def body(self) -> ir.Block:
        return self.op.regions[0].blocks[0]


def loop_range(op: ir.Operation) -> LoopRange:
    """The range of an `affine.for`."""
    below, above, _ = op.attributes["operandSegmentSizes"]
    operands = tuple(op.operands)
    lower = Bound(op.attributes["lowerBoundMap"].value, operands[:below])
    upper = Bound(op.attributes["upperBoundMap"].value, operands[below : below + above])
    return LoopRange(op, lower, upper, ir.IntegerAttr(op.attributes["step"]).value)


def _static(bound: Bound) -> int | None:
    """The bound as a number; None where it is none, or the extreme of several."""
    return bound.static if len(bound.map.results) == 1 else None


def constant_index(value: int) -> ir.Value:
    """Emit an index."""
    return arith.constant(ir.IndexType.get(), value)


def extreme(kind: str, bound: Bound) -> ir.Value:
    """Emit the largest (`affine.max`) or smallest (`affine.min`) of the results of a bound."""
    if len(bound.map.results) == 1:
        return apply(bound.map, list(bound.operands))
    attributes = {"map": ir.AffineMapAttr.get(bound.map)}
    return ir.Operation.create(kind, [ir.IndexType.get()], list(bound.operands), attributes).result


def count_of(loop: LoopRange, first: ir.Value) -> ir.Value:
    """Emit the number of iterations of a loop that starts at `first`, an index."""
    count = arith.maxsi(arith.subi(extreme("affine.min", loop.upper), first), constant_index(0))
    if loop.step == 1:
        return count
    return arith.divsi(arith.addi(count, constant_index(loop.step - 1)), constant_index(loop.step))


def declare(block: ir.Block, name: str, arguments: Sequence[ir.Type], results: Sequence[ir.Type] = ()) -> None:
    """Declare a function of the runtime in the module with that block; once."""
    names = [item.attributes["sym_name"] for item in block.operations if "sym_name" in item.attributes]
    if ir.StringAttr.get(name) in names:
        return
    with ir.InsertionPoint.at_block_begin(block):
        func.FuncOp(name, (list(arguments), list(results)), visibility="private")
