"""Loops of the affine dialect as constraints on their variables."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.affine.ir.element_relations import LoopVariable
from dlc.lowering.affine.polyhedral.index_texts import IndexTexts, extreme
from dlc.lowering.affine.polyhedral.model import ExtractionError


def loops_of(op: ir.Operation, around: Sequence[LoopVariable], texts: IndexTexts) -> tuple[list[LoopVariable], list[str]]:
    """The loops that `op`, an `affine.for` or `affine.parallel`, makes inside those `around`, and what bounds them."""
    return _of_for(op, around, texts) if op.name == "affine.for" else _of_parallel(op, around, texts)


def _of_for(op: ir.Operation, around: Sequence[LoopVariable], texts: IndexTexts) -> tuple[list[LoopVariable], list[str]]:
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = list(op.operands)
    lower = texts.map(op.attributes["lowerBoundMap"].value, operands[: sizes[0]], around, op)
    upper = texts.map(op.attributes["upperBoundMap"].value, operands[sizes[0] : sizes[0] + sizes[1]], around, op)
    loop = LoopVariable(op, op.regions[0].blocks[0].arguments[0], f"i{len(around)}")
    return [loop], _range(loop.name, lower, upper, ir.IntegerAttr(op.attributes["step"]).value)


def inits_of(op: ir.Operation) -> list[ir.Value]:
    """The values that an `affine.for` starts its `iter_args` with."""
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    return list(op.operands)[sizes[0] + sizes[1] :]


def _of_parallel(op: ir.Operation, around: Sequence[LoopVariable], texts: IndexTexts) -> tuple[list[LoopVariable], list[str]]:
    """One loop a variable. Values that iterations combine have an order of their own, which the model has not."""
    if len(op.results):
        raise ExtractionError(op, "'affine.parallel' combines values of its iterations", "run --affine-demote-values first")
    lower_map, upper_map = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
    operands = list(op.operands)
    lower_count = lower_map.n_dims + lower_map.n_symbols
    lowers = texts.map(lower_map, operands[:lower_count], around, op)
    uppers = texts.map(upper_map, operands[lower_count:], around, op)
    loops, constraints = [], []
    lower_at = upper_at = 0
    groups = zip(
        ir.DenseIntElementsAttr(op.attributes["lowerBoundsGroups"]),
        ir.DenseIntElementsAttr(op.attributes["upperBoundsGroups"]),
        ir.ArrayAttr(op.attributes["steps"]),
        strict=True,
    )
    for number, (lower_count, upper_count, step) in enumerate(groups):
        variable = op.regions[0].blocks[0].arguments[number]
        loops.append(LoopVariable(op, variable, f"i{len(around) + number}", is_parallel=True))
        lower, upper = lowers[lower_at : lower_at + lower_count], uppers[upper_at : upper_at + upper_count]
        lower_at, upper_at = lower_at + lower_count, upper_at + upper_count
        constraints += _range(loops[-1].name, lower, upper, ir.IntegerAttr(step).value)
    return loops, constraints


def _range(name: str, lower: Sequence[str], upper: Sequence[str], step: int) -> list[str]:
    """`name` runs from the largest lower bound below the least upper one, in steps."""
    constraints = [f"{name} >= {bound}" for bound in lower] + [f"{name} < {bound}" for bound in upper]
    if step != 1:
        constraints.append(f"({name} - {extreme('max', lower)}) mod {step} = 0")
    return constraints
