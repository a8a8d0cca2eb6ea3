"""Rules of `dl-fold-scales` for chains of factors and shifts by weights: what is left of one is a factor, then a shift."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import INTS, broadcast_shapes
from dlc.lowering.dl.matching import constant_array, has_one_use, source, type_of
from dlc.lowering.dl.patterns import built_like, merged_location
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.weights.contractions import WeightContraction, is_channel_vector
from dlc.lowering.dl.weights.scales import EXACT, Term

CHAIN_RULES = RuleSet()


@CHAIN_RULES.rule("dl.mul", "dl.div")
def compose_factors(op: ir.Operation, rewriter: Rewriter) -> bool:
    """(x * a) * b = x * (a * b), and the same with quotients"""
    outer, inner = _pair(op, rewriter, "dl.mul", "dl.div")
    if outer is None or inner is None:
        return False
    divided = [term.op.name == "dl.div" for term in (inner, outer)]
    dtype = type_of(op.results[0]).dtype
    if dtype not in (EXACT if any(divided) else (*EXACT, *INTS)) or not _stays_small(inner.weight, outer.weight):
        return False
    inverse = divided[0] != divided[1]
    first, second = (outer.weight, inner.weight) if divided[0] and inverse else (inner.weight, outer.weight)
    if dtype in EXACT and not _stays_normal(first, second, inverse):
        return False
    with merged_location([op, inner.op]):
        factor = dl.div(first, second) if inverse else dl.mul(first, second)
        value = built_like(op.results[0], "div" if all(divided) else "mul", inner.value, factor)
    rewriter.replace(op, value)
    return True


@CHAIN_RULES.rule("dl.add", "dl.sub")
def compose_shifts(op: ir.Operation, rewriter: Rewriter) -> bool:
    """(x + a) + b = x + (a + b), and the same with differences"""
    outer, inner = _pair(op, rewriter, "dl.add", "dl.sub")
    if outer is None or inner is None or type_of(op.results[0]).dtype not in (*EXACT, *INTS):
        return False
    if not _stays_small(inner.weight, outer.weight):
        return False
    with merged_location([op, inner.op]):
        shift = (dl.add if inner.op.name == outer.op.name else dl.sub)(inner.weight, outer.weight)
        value = built_like(op.results[0], inner.op.name.removeprefix("dl."), inner.value, shift)
    rewriter.replace(op, value)
    return True


@CHAIN_RULES.rule("dl.mul", "dl.div")
def move_factor_before_shift(op: ir.Operation, rewriter: Rewriter) -> bool:
    """(y + t) * f = y * f + t * f, where y is a product with a weight that f goes into"""
    factor = Term.of(op, rewriter.is_weight, "dl.mul", "dl.div")
    shift = Term.of(source(factor.value), rewriter.is_weight, "dl.add", "dl.sub") if factor and has_one_use(factor.value) else None
    if factor is None or shift is None or type_of(op.results[0]).dtype not in EXACT or not has_one_use(shift.value):
        return False
    if not _stays_small(shift.weight, factor.weight) or not _takes_factor(shift.value, factor.weight, rewriter):
        return False
    with merged_location([op, shift.op]):
        scaled = built_like(op.results[0], op.name.removeprefix("dl."), shift.value, factor.weight)
        shifted = factor.combine(shift.weight, factor.weight)
        value = built_like(op.results[0], shift.op.name.removeprefix("dl."), scaled, shifted)
    rewriter.replace(op, value)
    return True


def _pair(op: ir.Operation, rewriter: Rewriter, *names: str) -> tuple[Term | None, Term | None]:
    """A term, and the one whose result it alone uses."""
    outer = Term.of(op, rewriter.is_weight, *names)
    if outer is None or not has_one_use(outer.value):
        return outer, None
    return outer, Term.of(source(outer.value), rewriter.is_weight, *names)


def _takes_factor(value: ir.Value, factor: ir.Value, rewriter: Rewriter) -> bool:
    """Whether the op that gives `value` has weights that a factor goes into."""
    contraction = WeightContraction.giving(value, rewriter.is_weight)
    if contraction is not None:
        return is_channel_vector(factor, type_of(value).rank, contraction.out_axis, contraction.channels)
    term = Term.of(source(value), rewriter.is_weight, "dl.mul")
    return term is not None and _stays_small(term.weight, factor)


def _stays_small(left: ir.Value, right: ir.Value) -> bool:
    """Whether two weights combine to one that is no larger than the larger one."""
    shapes = [type_of(value).shape for value in (left, right)]
    if not all(type_of(value).is_static for value in (left, right)):
        return False
    return broadcast_shapes("", *shapes) in [(1,) * (max(map(len, shapes)) - len(shape)) + tuple(shape) for shape in shapes]


def _stays_normal(left: ir.Value, right: ir.Value, inverse: bool) -> bool:
    """Whether the product (or quotient) of two constants is no less exact than they are; weights are taken to be ordinary."""
    arrays = [constant_array(value) for value in (left, right)]
    if arrays[0] is None or arrays[1] is None:
        return True
    with np.errstate(all="ignore"):
        found = np.abs(arrays[0] / arrays[1] if inverse else arrays[0] * arrays[1])
    return bool((np.isfinite(found) & (found >= np.finfo(found.dtype).tiny)).all())
