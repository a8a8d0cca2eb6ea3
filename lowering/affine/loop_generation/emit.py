"""Affine loops from a schedule: isl generates the loops, the statements' ops are copied into them."""

from __future__ import annotations

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine.loop_generation.generate import generate
from dlc.lowering.affine.loop_generation.loop_builder import LoopBuilder
from dlc.lowering.affine.loop_generation.loop_site import LoopSite
from dlc.lowering.affine.polyhedral.ast_expressions import EmissionError
from dlc.lowering.affine.polyhedral.model import Scop


def replace_loops(scop: Scop, schedule: isl.Schedule, lanes: int | None = 0) -> None:
    """Build the loops of `schedule` in place of the scop's items; vectors have `lanes` lanes.

    The scop holds nothing that `movable.py` refuses. With None, a loop of lanes is one vector, or an error where it can't be.
    Raises EmissionError, with the IR as it was, where isl generates code that the affine dialect cannot hold.
    """
    kept = {*scop.prologue, *scop.epilogue}
    staging = _staged(scop, schedule, lanes)
    for op in [inner.operation for inner in staging.regions[0].blocks[0].operations]:
        op.move_before(staging)
    for op in reversed([op for op in scop.items if op not in kept]):
        op.erase()
    staging.erase()


def try_loops(scop: Scop, schedule: isl.Schedule, lanes: int | None = 0) -> None:
    """Raise the EmissionError that `replace_loops` would raise, if any; the loops stay as they are."""
    _staged(scop, schedule, lanes).erase()


def _staged(scop: Scop, schedule: isl.Schedule, lanes: int | None) -> ir.Operation:
    """An op before the loops that holds the new ones; the prologue is before it."""
    _refuse_divided_starts(scop)
    places: dict[str, list[isl.AstExpr]] = {}
    tree = generate(scop, schedule, places)
    for op in scop.prologue:
        op.move_before(scop.items[0])
    kept = {*scop.prologue, *scop.epilogue}
    first = next(op for op in scop.items if op not in kept)
    staging = ir.Operation.create(
        "affine.if", regions=2, attributes={"condition": _always()}, loc=first.location, ip=ir.InsertionPoint(first)
    )
    block = staging.regions[0].blocks.append()
    try:
        LoopBuilder(LoopSite(scop, lanes, places)).build(tree, block)
    except EmissionError:
        staging.erase()
        raise
    return staging


def _refuse_divided_starts(scop: Scop) -> None:
    """isl loses iterations of loops of a step that start at a quotient or remainder of a parameter."""
    for op in {loop.op for statement in scop.statements for loop in statement.loops}:
        is_for = op.name == "affine.for"
        steps = [op.attributes["step"]] if is_for else ir.ArrayAttr(op.attributes["steps"])
        applied = [defining_op(operand) for operand in op.operands]
        texts = [str(op.attributes["lowerBoundMap" if is_for else "lowerBoundsMap"])]
        texts += [str(inner.attributes["map"]) for inner in applied if inner is not None and inner.name == "affine.apply"]
        divides = any(word in text for word in ("floordiv", "ceildiv", "mod") for text in texts)
        if divides and any(ir.IntegerAttr(step).value != 1 for step in steps):
            raise EmissionError("a loop of a step starts at a quotient or remainder; run --affine-loop-normalize first")


def _always() -> ir.Attribute:
    return ir.Attribute.parse("affine_set<() : (0 == 0)>")
