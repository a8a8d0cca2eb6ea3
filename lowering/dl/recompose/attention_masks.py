"""The masks that scores of attention go through, as the one mask that `dl.attention` takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim, Shape
from dlc.lowering.dl.decompose.decomposing import number
from dlc.lowering.dl.matching import attributes_of, constant_array, source, type_of
from dlc.lowering.dl.patterns import operands_of, scalar
from dlc.lowering.dl.rewriting import Rewriter

_ABSORBING = {"f64": -1e30, "f32": -1e30, "bf16": -1e30, "f16": -65504.0}
"""Numbers from which down the exponential beside that of any score is 0; but for f16, adding a score does not change them."""


@dataclass(frozen=True)
class Mask:
    """Adds factor * value to the scores; with `visible`, value is i1 and scores where it is not `visible` become `fill`."""

    value: ir.Value
    factor: float = 1.0
    visible: bool | None = None
    fill: float = 0.0


@dataclass(frozen=True)
class Masking:
    """What `dl.attention` takes: values to add, values that say what is visible, and causality; alignment 0 or at the end."""

    added: tuple[Mask, ...] = ()
    selecting: tuple[Mask, ...] = ()
    is_causal: bool = False
    aligned_at_end: bool = False


def masking_of(masks: Sequence[Mask], scores: Shape, dtype: str, rewriter: Rewriter) -> Masking | None:
    """What masks of scores of a shape and dtype amount to, None where `dl.attention` can't express it.

    Scores that become -inf are hidden, those that become a huge negative number get it added: a row that is hidden as a
    whole weighs all its keys equally. Another number, as -10000, is no mask that could be added.
    """
    found = Masking()
    for mask in masks:
        kept = _as_selection(mask)
        is_hiding = kept.visible is not None and kept.fill == -math.inf
        alignment = _causal(kept, scores, dtype, rewriter)
        if alignment is not None:
            found = Masking(found.added, found.selecting, True, found.aligned_at_end or alignment)
        elif is_hiding:
            found = Masking(found.added, (*found.selecting, kept), found.is_causal, found.aligned_at_end)
        elif kept.visible is None or (kept.fill <= _ABSORBING[dtype] and dtype != "f16"):
            found = Masking((*found.added, kept), found.selecting, found.is_causal, found.aligned_at_end)
        else:
            return None
        if kept.visible is None and type_of(kept.value).dtype != dtype:
            return None
    causal = [mask for mask in masks if _causal(_as_selection(mask), scores, dtype, rewriter) is not None]
    return found if len(causal) < 2 else None


def build_mask(masking: Masking, like: ir.Value) -> ir.Value | None:
    """The mask operand for queries `like`, at the insertion point."""
    added = [_built_sum(mask, like) for mask in masking.added]
    visible = [mask.value if mask.visible else dl.not_(mask.value) for mask in masking.selecting]
    total = functools.reduce(dl.add, added) if added else None
    shown = functools.reduce(dl.and_, visible) if visible else None
    if total is None or shown is None:
        return shown if total is None else total
    hidden: ir.Value = dl.where(shown, total, number(-math.inf, total))
    return hidden


def _built_sum(mask: Mask, like: ir.Value) -> ir.Value:
    if mask.visible is None:
        return mask.value if mask.factor == 1 else dl.mul(mask.value, number(mask.factor, like))
    zero, fill = number(0, like), number(mask.fill, like)
    found: ir.Value = dl.where(mask.value, *((zero, fill) if mask.visible else (fill, zero)))
    return found


def _as_selection(mask: Mask) -> Mask:
    """A mask that adds 0 or -inf by an i1 value, as one that selects."""
    op = source(mask.value, "dl.where") if mask.visible is None else None
    if op is None:
        return mask
    condition, x, y = op.operands
    fills = (scalar(x), scalar(y))
    if mask.factor <= 0 or fills not in ((0.0, -math.inf), (-math.inf, 0.0)) or type_of(condition).rank != type_of(mask.value).rank:
        return mask
    return Mask(condition, mask.factor, visible=fills[0] == 0, fill=-math.inf)


def _causal(mask: Mask, scores: Shape, dtype: str, rewriter: Rewriter) -> bool | None:
    """Whether a causal mask aligns the last query with the last key; None for one that is not causal, or hides less."""
    limit = _ABSORBING[dtype]
    if mask.visible is not None and mask.fill > limit:
        return None
    shape = rewriter.type_of(mask.value).shape
    if shape[-2:] != scores[-2:] or any(dim != 1 for dim in shape[:-2]):
        return None
    array = constant_array(mask.value)
    if array is not None:
        return _causal_array(array, mask, limit)
    triangle = _is_triangle(mask, limit) if scores[-2] == scores[-1] else False
    return False if triangle or _is_comparison(mask, scores, rewriter) else None


def _causal_array(array: np.ndarray, mask: Mask, limit: float) -> bool | None:
    queries, keys = array.shape[-2:]
    plane = array.reshape(queries, keys)
    if mask.visible is None:
        hidden = plane.astype(np.float64) * mask.factor <= limit
        if not (hidden | (plane == 0)).all():
            return None
        seen = ~hidden
    else:
        seen = plane == mask.visible
    for lead in dict.fromkeys((0, keys - queries)):
        if lead >= 0 and (seen == np.tri(queries, keys, lead, dtype=np.bool_)).all():
            return lead > 0
    return None


def _is_triangle(mask: Mask, limit: float) -> bool:
    """Whether a square mask is a triangle of equal elements: the lower one visible, or the upper one hidden."""
    value = mask.value
    while (cast := source(value, "dl.cast")) is not None:
        value = cast.operands[0]
    op = source(value, "dl.trilu")
    if op is None:
        return False
    element, attributes = _uniform(op.operands[0]), attributes_of(op)
    if element is None:
        return False
    if mask.visible is None:
        return element * mask.factor <= limit and attributes == {"upper": True, "k": 1}
    kept = {"upper": not mask.visible, "k": 0 if mask.visible else 1}
    return element != 0 and attributes == kept


def _uniform(value: ir.Value) -> float | None:
    """The number that all elements of a constant, expanded or not, are."""
    while (op := source(value)) is not None and op.name in ("dl.expand", "dl.cast"):
        value = op.operands[0]
    array = constant_array(value)
    if array is None or not array.size or not (array == array.flat[0]).all():
        return None
    return float(array.flat[0])


def _is_comparison(mask: Mask, scores: Shape, rewriter: Rewriter) -> bool:
    """Whether i1 values compare the positions of queries and keys, both counted from 0."""
    if mask.visible is None:
        return False
    for name, query_first in (("dl.less_equal", False), ("dl.less", True)):
        found = operands_of(mask.value, name)
        if found is None:
            continue
        query, key = found if query_first else found[::-1]
        # key <= query shows; query < key hides
        fits = mask.visible is not query_first
        return fits and _counts(query, -2, scores[-2], rewriter) and _counts(key, -1, scores[-1], rewriter)
    return False


def _counts(value: ir.Value, axis: int, size: Dim, rewriter: Rewriter) -> bool:
    """Whether the elements of `value` are 0, 1, ... along an axis of this size, the only one."""
    shape = rewriter.type_of(value).shape
    padded = (1,) * max(0, 2 - len(shape)) + shape
    if padded[axis] != size or sum(dim != 1 for dim in padded) > 1:
        return False
    while (op := source(value)) is not None and op.name in ("dl.unsqueeze", "dl.reshape", "dl.cast", "dl.squeeze"):
        value = op.operands[0]
    array = constant_array(value)
    if array is not None:
        return bool((array.reshape(-1) == np.arange(array.size)).all())
    op = source(value, "dl.range")
    return op is not None and scalar(op.operands[0]) == 0 and scalar(op.operands[2]) == 1
