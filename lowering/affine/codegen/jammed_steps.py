"""The loops over steps of an unrolled and jammed loop: one for each height of a step, and which iterations it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine.cost.step_heights import balanced, most_left, open_heights
from dlc.lowering.affine.ir.loops import Bound, Loop, apply


@dataclass(frozen=True)
class JammedSteps:
    """The iterations from `lower` to `upper` in steps of `height`."""

    lower: Bound
    upper: Bound
    height: int
    parallel: bool = True
    """Whether the steps are for threads to share; those of few rows are too few."""


def jammed_steps(loop: Loop, factor: int) -> list[JammedSteps]:
    """The steps of `loop`, from the first iteration to the last.

    A known extent takes as few steps as `factor` allows, of two heights that differ by one: 49 rows are seven times 7, not six
    times 8 and a single one. For an unknown one see `open_steps`; what it comes to is computed once, before the nest.
    """
    if loop.extent is not None:
        return list(_known_steps(loop.extent, factor))
    top = _top_level(loop)
    if top is None:
        return _plain_steps(loop, factor)
    with ir.InsertionPoint(top), top.location:
        return _open_steps(loop, factor)


def _known_steps(extent: int, factor: int) -> Iterator[JammedSteps]:
    start = 0
    for trips, height in balanced(extent, factor):
        end = start + trips * height
        yield JammedSteps(Bound.constant(start), Bound.constant(end), height)
        start = end


def _top_level(loop: Loop) -> ir.Operation | None:
    """The op of the function's own block that holds `loop`; None where its extent is not known there."""
    top = loop.op
    while top.parent is not None and top.parent.name != "func.func":
        top = top.parent.operation
    blocks = [value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block for value in loop.upper.operands]
    return top if all(block == top.block for block in blocks) else None


def _plain_steps(loop: Loop, factor: int) -> list[JammedSteps]:
    """Whole steps, then single iterations: the extent changes from one run of the nest to the next."""
    whole = loop.upper.rounded_down(factor)
    steps = [JammedSteps(Bound.constant(0), whole, factor)]
    return steps if loop.upper.is_multiple_of(factor) else [*steps, JammedSteps(whole, loop.upper, 1)]


def _open_steps(loop: Loop, factor: int) -> list[JammedSteps]:
    """The same as `open_steps`, by indices that are emitted here."""
    heights = open_heights(factor, loop.upper.known)
    if heights == [factor]:
        return [JammedSteps(Bound.constant(0), loop.upper, factor)]
    extent = apply(loop.upper.map, loop.upper.operands)
    start = arith.muli(_whole_steps(extent, factor), _constant(factor))
    rest = arith.subi(extent, start)
    count = arith.maxsi(_ceil_divided(rest, most_left(factor)), _constant(1))
    low = arith.divui(rest, count)
    high = arith.addi(low, _constant(1))
    middle = arith.addi(start, arith.muli(arith.subi(rest, arith.muli(low, count)), high))
    found = [JammedSteps(Bound.constant(0), Bound.symbol(arith.select(_is(high, factor), middle, start)), factor)]
    for height in heights[1:]:
        lower, upper = arith.select(_is(high, height), start, middle), arith.select(_is(low, height), extent, middle)
        found.append(JammedSteps(Bound.symbol(lower), Bound.symbol(upper), height))
    return found


def _whole_steps(extent: ir.Value, factor: int) -> ir.Value:
    """The steps of `factor` that fit, less one where something is left over: twice those that fit, less those that cover all."""
    fitting = apply(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0), factor)]), [extent])
    return arith.maxsi(arith.subi(arith.addi(fitting, fitting), _ceil_divided(extent, factor)), _constant(0))


def _ceil_divided(value: ir.Value, divisor: int) -> ir.Value:
    return apply(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_ceil_div(ir.AffineDimExpr.get(0), divisor)]), [value])


def _is(value: ir.Value, number: int) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, value, _constant(number))


def _constant(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)
