"""`dl-fold-branches`: branches whose way is known, and loops that never begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.control.scalars import control_ops, erase_unused_scalars, fold_scalars, known_scalar
from dlc.lowering.dl.matching import dl_ops, erase_unused, functions
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class FoldBranches(Pass):
    """Put the taken branch in the place of an `scf.if` whose condition is known; an `scf.for` of no steps gives what it began with.

    before:
        %c = "dl.constant"() {value = dense<true> : tensor<i1>}
        %p = tensor.extract %c[] : tensor<i1>
        %0 = scf.if %p -> (tensor<4xf32>) { %1 = "dl.relu"(%x) ... scf.yield %1 } else { ... }
    after:
        %0 = "dl.relu"(%x)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            if not control_ops(function):
                continue
            fold_scalars(function)
            while any(_fold(inner) for inner in control_ops(function)):
                pass
            erase_unused(dl_ops(function))
            erase_unused_scalars(function)


def _fold(op: ir.Operation) -> bool:
    """Whether `op` went."""
    if op.name == "scf.if":
        return _fold_if(op)
    if op.name == "scf.for":
        first, last = (known_scalar(bound) for bound in op.operands[:2])
        if first is not None and last is not None and last <= first:
            _replace(op, list(op.operands)[3:])
            return True
    return False


def _fold_if(op: ir.Operation) -> bool:
    condition = known_scalar(op.operands[0])
    if condition is None:
        return False
    blocks = list(op.regions[0 if condition else 1].blocks)
    _replace(op, inline_block(blocks[0], op, {}) if blocks else [])
    return True


def inline_block(block: ir.Block, place: ir.Operation, values: Mapping[ir.Value, ir.Value]) -> list[ir.Value]:
    """Move the ops of `block` before `place`, with `values` for its arguments; what its terminator gives."""
    for argument, value in values.items():
        argument.replace_all_uses_with(value)
    *inner, end = [item.operation for item in block.operations]
    for item in inner:
        item.move_before(place)
    return list(end.operands)


def _replace(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()
