"""Comparisons of a loop's index with an earlier one are known."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.loops import Loop, normalized
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class AffineFoldIndexOrder(Pass):
    """Fold `index < best` where `best` is the start, at most 0, or the index of an earlier iteration.

    An arg-maximum breaks ties by the smaller index, so that it may be combined in any order; in the order of the loop
    no later index is smaller.

    before: affine.for %i = 0 to 64 iter_args(%best = %c0) { %at = arith.index_cast %i; %c = arith.cmpi slt, %at, %best; ...
              %new = arith.select %takes, %at, %best; affine.yield %new }
    after:  the same with %c = arith.constant false
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Fold in one function."""
        for inner in nested_ops(op):
            if inner.name == "arith.cmpi" and _is_known(inner):
                with ir.InsertionPoint(inner), inner.location:
                    false = ir.IntegerAttr.get(inner.results[0].type, 0)
                    made = ir.Operation.create("arith.constant", results=[inner.results[0].type], attributes={"value": false})
                inner.results[0].replace_all_uses_with(made.results[0])
                inner.erase()


def _is_known(compare: ir.Operation) -> bool:
    index, best = compare.operands
    if ir.IntegerAttr(compare.attributes["predicate"]).value != int(arith.CmpIPredicate.slt) or not isinstance(
        best, ir.BlockArgument
    ):
        return False
    loop = normalized(best.owner.owner.operation)
    if loop is None or best.arg_number == 0 or not _counts(index, loop):
        return False
    position = best.arg_number - 1
    step = list(loop.body.operations)[-1].operands[position]
    return _is_at_most_zero(loop.inits[position]) and _chooses(step, index, best)


def _counts(index: ir.Value, loop: Loop) -> bool:
    """Whether `index` is the induction variable as an integer that holds all its values."""
    if isinstance(index, ir.BlockArgument) or index.owner.name != "arith.index_cast" or index.owner.operands[0] != loop.iv:
        return False
    return bool(index.type.width >= 64 or (loop.extent is not None and loop.extent <= 1 << index.type.width - 1))


def _is_at_most_zero(start: ir.Value) -> bool:
    if isinstance(start, ir.BlockArgument) or start.owner.name != "arith.constant":
        return False
    return bool(ir.IntegerAttr(start.owner.attributes["value"]).value <= 0)


def _chooses(step: ir.Value, index: ir.Value, best: ir.Value) -> bool:
    """Whether `step` is always one of the other two."""
    if isinstance(step, ir.BlockArgument) or step.owner.name != "arith.select":
        return False
    _, then, otherwise = step.owner.operands
    return bool((then == index and otherwise == best) or (then == best and otherwise == index))
