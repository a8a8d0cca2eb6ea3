"""Loops around loads whose addresses are computed as floats are kept from LLVM's loop vectoriser.

It has a bug (LLVM of 2026-10, at -O1 and -O2): where such addresses are clamped, as those of a resize, it takes them for the same
in all lanes, and each lane reads what the first one does.
"""

from __future__ import annotations

from collections.abc import Iterable

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op

_CONVERSIONS = ("arith.fptosi", "arith.fptoui")
_JUMPS = ("llvm.br", "llvm.cond_br")
_ANNOTATION = "#llvm.loop_annotation<vectorize = <disable = true>>"


def has_computed_addresses(ops: Iterable[ir.Operation]) -> bool:
    """Whether a load among `ops`, still at level affine, has an index that is made of a float."""
    loads = [op for op in ops if op.name == "memref.load"]
    return any(_is_of_float(index, set()) for op in loads for index in list(op.operands)[1:])


def _is_of_float(value: ir.Value, seen: set[ir.Operation]) -> bool:
    op = defining_op(value)
    if op is None or op in seen:
        return False
    seen.add(op)
    return op.name in _CONVERSIONS or any(_is_of_float(operand, seen) for operand in op.operands)


def keep_from_vectorizer(function: ir.Operation) -> None:
    """Annotate the back edges of all loops of an `llvm.func`."""
    annotation = ir.Attribute.parse(_ANNOTATION, function.context)
    before: list[ir.Block] = []
    for block in function.regions[0].blocks:
        before.append(block)
        last = block.operations[len(block.operations) - 1].operation
        if last.name in _JUMPS and any(target in before for target in last.successors):
            last.attributes["loop_annotation"] = annotation
