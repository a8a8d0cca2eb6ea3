"""`dl-unroll-loops`: loops of a few known steps, written out."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.control.scalars import constant_scalar, control_ops, erase_unused_scalars, fold_scalars, known_scalar
from dlc.lowering.dl.matching import dl_ops, functions
from dlc.lowering.outlining import clone_replacing
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class UnrollLoops(Pass):
    """Write the steps of an `scf.for` out, where their number is known and the ops of all steps together are few.

    Steps then share kernels with what comes before and after them. Inner loops come first.

    before:
        %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) { %1 = "dl.exp"(%a) ... scf.yield %1 }
    after:
        %1 = "dl.exp"(%x)
        %2 = "dl.exp"(%1)
    """

    limit: int = option(-1, "most ops of all steps together (-1: that of the policy)")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        limit = policy().graph.unrolled_ops if self.limit < 0 else self.limit
        for function in functions(op):
            loops = [inner for inner in control_ops(function) if inner.name == "scf.for"]
            if [True for loop in reversed(loops) if _unroll(loop, limit)]:
                fold_scalars(function)
                erase_unused_scalars(function)


def _unroll(loop: ir.Operation, limit: int) -> bool:
    """Whether `loop` went."""
    first, last, step = (known_scalar(bound) for bound in list(loop.operands)[:3])
    if first is None or last is None or not step or step < 0:
        return False
    count = max(-((first - last) // step), 0)
    if count * max(len(dl_ops(loop)), 1) > limit:
        return False
    steps = range(first, last, step)
    carried = list(loop.operands)[3:]
    with loop.location, ir.InsertionPoint(loop):
        for number in steps:
            carried = _copy_step(loop.regions[0].blocks[0], [constant_scalar(number, ir.IndexType.get()), *carried])
    for result, value in zip(loop.results, carried, strict=True):
        result.replace_all_uses_with(value)
    loop.erase()
    return True


def _copy_step(body: ir.Block, arguments: list[ir.Value]) -> list[ir.Value]:
    """Copies of the ops of `body` at the current place; what it yields."""
    values = dict(zip(body.arguments, arguments, strict=True))
    *inner, end = [op.operation for op in body.operations]
    for op in inner:
        clone_replacing(op, values)
    return [values.get(value, value) for value in end.operands]
