"""Canonical forms of conditions, selections and conversions between element types."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import FLOATS, INTS, SIGNED_INTS, UNSIGNED_INTS, width_of
from dlc.lowering.dl.matching import attributes_of, constant_array, source, type_of
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.simplify.replacing import forward, rebuild
from dlc.lowering.dl.simplify.value_facts import broadcasts_into, is_full_of

LOGIC = RuleSet()

_NEUTRAL = {"dl.and": True, "dl.or": False, "dl.xor": False, "dl.equal": True, "dl.not_equal": False}


@LOGIC.rule(*_NEUTRAL)
def drop_neutral_condition(op: ir.Operation, rewriter: Rewriter) -> bool:
    """c and true = c or false = c xor false = c; (c == true) = (c != false) = c; for integers & -1, | 0, ^ 0"""
    x, other = op.operands
    array = constant_array(other)
    if array is None or array.size == 0 or (op.name in ("dl.equal", "dl.not_equal") and array.dtype != np.bool_):
        return False
    neutral = np.zeros((), array.dtype)
    if _NEUTRAL[op.name]:
        neutral = ~neutral
    if not bool((array == neutral).all()) or not broadcasts_into(type_of(other), type_of(x)):
        return False
    return forward(op, rewriter, x)


@LOGIC.rule("dl.not")
def not_of_equality(op: ir.Operation, rewriter: Rewriter) -> bool:
    """not (x == y) = (x != y), and the other way round"""
    inner = source(op.operands[0])
    swapped = {"dl.equal": "not_equal", "dl.not_equal": "equal"}.get(inner.name if inner else "")
    if swapped is None or inner is None:
        return False
    return rebuild(op, rewriter, swapped, *inner.operands, absorbing=inner)


@LOGIC.rule("dl.where")
def where_of_not(op: ir.Operation, rewriter: Rewriter) -> bool:
    """where(not c, x, y) = where(c, y, x)"""
    condition, x, y = op.operands
    inner = source(condition, "dl.not")
    return inner is not None and rebuild(op, rewriter, "where", inner.operands[0], y, x, absorbing=inner)


@LOGIC.rule("dl.where")
def where_of_one_value(op: ir.Operation, rewriter: Rewriter) -> bool:
    """where(c, x, x) = x"""
    condition, x, y = op.operands
    return bool(x == y) and broadcasts_into(type_of(condition), type_of(x)) and forward(op, rewriter, x)


@LOGIC.rule("dl.where")
def where_of_constant(op: ir.Operation, rewriter: Rewriter) -> bool:
    """where(true, x, y) = x; where(false, x, y) = y; expanded where the others are larger"""
    condition, x, y = op.operands
    array = constant_array(condition)
    if array is None or array.size == 0 or not (array == array.flat[0]).all():
        return False
    taken, other = (x, y) if array.flat[0] else (y, x)
    kind, wanted = type_of(taken), type_of(op.results[0])
    if broadcasts_into(type_of(condition), kind) and broadcasts_into(type_of(other), kind) and forward(op, rewriter, taken):
        return True
    if not wanted.is_static or not type_of(other).is_static or not kind.is_static or kind == wanted:
        return False
    return rebuild(op, rewriter, "expand", taken, None, shape=wanted.shape)


@LOGIC.rule("dl.where")
def where_of_numbers_to_cast(op: ir.Operation, rewriter: Rewriter) -> bool:
    """where(c, 1, 0) = cast(c)"""
    condition, x, y = op.operands
    kind = type_of(condition)
    if not is_full_of(x, 1.0) or not is_full_of(y, 0.0):
        return False
    if not broadcasts_into(type_of(x), kind) or not broadcasts_into(type_of(y), kind):
        return False
    return rebuild(op, rewriter, "cast", condition, to=type_of(x).dtype)


@LOGIC.rule("dl.assert")
def drop_assert_that_holds(op: ir.Operation, rewriter: Rewriter) -> bool:
    """assert(x, true) = x"""
    x, condition = op.operands
    array = constant_array(condition)
    return array is not None and bool(array.all()) and forward(op, rewriter, x)


@LOGIC.rule("dl.cast")
def drop_cast_to_own_type(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(x, type of x) = x"""
    x = op.operands[0]
    return attributes_of(op)["to"] == type_of(x).dtype and forward(op, rewriter, x)


@LOGIC.rule("dl.cast")
def merge_casts(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(cast(x, t), u) = cast(x, u), where t holds every x, or integers wrap once rather than twice"""
    inner = source(op.operands[0], "dl.cast")
    if inner is None:
        return False
    x, to = inner.operands[0], attributes_of(op)["to"]
    if not _may_skip(type_of(x).dtype, type_of(op.operands[0]).dtype, to):
        return False
    return rebuild(op, rewriter, "cast", x, absorbing=inner, to=to)


@LOGIC.rule("dl.cast")
def drop_add_before_integer(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(x + 0.0) = cast(x) for integers, which have one zero"""
    to, add = attributes_of(op)["to"], source(op.operands[0], "dl.add")
    if add is None or to not in INTS or type_of(add.operands[0]).dtype not in FLOATS:
        return False
    x, other = add.operands
    if not is_full_of(other, 0.0) or not broadcasts_into(type_of(other), type_of(x)):
        return False
    return rebuild(op, rewriter, "cast", x, absorbing=add, to=to)


@LOGIC.rule("dl.cast")
def drop_relu_before_bytes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(round(relu(x))) = cast(round(x)) for unsigned bytes: what is below 0, or NaN, gives 0"""
    rounding = source(op.operands[0], "dl.round")
    relu = source(rounding.operands[0], "dl.relu") if rounding is not None else None
    if relu is None or rounding is None or attributes_of(op)["to"] != "ui8" or type_of(relu.results[0]).dtype not in FLOATS:
        return False
    return rebuild(op, rewriter, "cast", dl.round(relu.operands[0]), absorbing=rounding, to="ui8")


_BITS = {dtype: width_of(dtype) for dtype in INTS}
_PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
"""Bits of a float type's significand."""
_WIDER = {"bf16": ("f32", "f64"), "f16": ("f32", "f64"), "f32": ("f64",), "f64": ()}


def _may_skip(first: str, middle: str, last: str) -> bool:
    """Whether a conversion by way of `middle` is the same as the direct one."""
    if not {first, middle, last}.isdisjoint(STORAGE):
        return False
    if first == middle or first == "i1":
        return True
    if first in INTS and middle in INTS and last in INTS:
        return _BITS[last] <= _BITS[middle] or _holds(middle, first)
    if not _holds(middle, first):
        return False
    # Floats saturate where integers wrap: by way of a float only into a type that holds them all.
    return first in FLOATS or middle in INTS or last in FLOATS or last == "i1" or _holds(last, first)


def _holds(wide: str, narrow: str) -> bool:
    """Whether every value of type `narrow` is one of type `wide`."""
    if narrow in FLOATS:
        return wide == narrow or wide in _WIDER[narrow]
    if wide in FLOATS:
        return _BITS[narrow] - (narrow in SIGNED_INTS) <= _PRECISION[wide]
    if wide == "i1":
        return False
    if narrow in UNSIGNED_INTS and wide in SIGNED_INTS:
        return _BITS[wide] > _BITS[narrow]
    return (narrow in SIGNED_INTS) == (wide in SIGNED_INTS) and _BITS[wide] >= _BITS[narrow]
